using System;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Threading;

namespace Tracerd.Managed
{
    /// <summary>
    /// Types and methods made while the program runs. `types-10000 COUNT`: as many exception types, each thrown once.
    /// `unicode-names`: exceptions, threads and methods whose names are hard. `dynamic-methods COUNT`: dynamic methods, each
    /// compiled, called, and left to the collector.
    /// </summary>
    internal static class Emitted
    {
        private static readonly string[] HardNames =
        {
            "Gr\u00f6\u00dfe",
            "\u4e16\u754c",
            "\U0001f600 face",
            "e\u0301 combining",
            "\u05e9\u05dc\u05d5\u05dd right to left",
            "quote \" and ' and `",
            "tab \t and line \n",
            "\u0001\u001f\u007f",
            "\u2028\ufeff",
            "name with {braces}: and ; more",
        };

        private static readonly ModuleBuilder Module = AssemblyBuilder
            .DefineDynamicAssembly(new AssemblyName("emitted"), AssemblyBuilderAccess.Run).DefineDynamicModule("emitted");

        public static void Types(Facts facts, string[] arguments)
        {
            int count = int.Parse(arguments[1]);

            for (int i = 0; i < count; i++)
            {
                ThrowAndCatch("Many.Type" + i);
            }
            facts.Add("types", count);
        }

        public static void Unicode(Facts facts, string[] arguments)
        {
            foreach (string name in HardNames)
            {
                var thread = new Thread(() => { }) { Name = name };

                thread.Start();
                thread.Join();
                ThrowAndCatch(name);
                Unexpected.Unless(Call(name, 41) == 42, "a dynamic method computes wrongly");
            }
            facts.Add("names", HardNames);
        }

        public static void Methods(Facts facts, string[] arguments)
        {
            int count = int.Parse(arguments[1]);
            int sum = Enumerable.Range(0, count).Sum(i => Call("dynamic_" + i, i));

            Unexpected.Unless(sum == count * (count + 1) / 2, "the dynamic methods compute wrongly");
            for (int i = 0; i < 3; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            facts.Add("methods", Enumerable.Range(0, count).Select(i => "dynamic_" + i));
        }

        private static void ThrowAndCatch(string name)
        {
            Type type = Module.DefineType(name, TypeAttributes.Class | TypeAttributes.Public, typeof(Exception)).CreateType();
            var problem = (Exception)Activator.CreateInstance(type);

            try
            {
                throw problem;
            }
            catch (Exception e) when (e == problem)
            {
            }
        }

        private static int Call(string name, int argument)
        {
            var method = new DynamicMethod(name, typeof(int), new[] { typeof(int) });
            ILGenerator code = method.GetILGenerator();

            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Ldc_I4_1);
            code.Emit(OpCodes.Add);
            code.Emit(OpCodes.Ret);
            return ((Func<int, int>)method.CreateDelegate(typeof(Func<int, int>)))(argument);
        }
    }
}
