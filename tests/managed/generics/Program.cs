using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;
using Tracerd.Managed.Shapes;

namespace Tracerd.Managed
{
    /// <summary>
    /// Runs methods and loads types of every shape that has a name of its own, and prints what they are called. With a
    /// number: loads as many instances of a generic struct, too.
    /// </summary>
    internal static class Program
    {
        private const BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance
            | BindingFlags.Static | BindingFlags.DeclaredOnly;

        private static readonly Expected expected = new Expected();

        private static async Task<int> Main(string[] arguments)
        {
            Generic();
            Nested();
            Machines();
            await MachinesAsync();
            Functions();
            await FunctionsAsync();
            Emitted();
            Huge();
            Types(arguments.Length > 0 ? int.Parse(arguments[0]) : 0);
            expected.Print();
            return 0;
        }

        private static MethodInfo Method(Type type, string name, params Type[] arguments)
        {
            MethodInfo method = type.GetMethod(name, All);

            return arguments.Length > 0 ? method.MakeGenericMethod(arguments) : method;
        }

        private static void Boxed<T, U>(T value, U other)
        {
            var box = new Box<T>(value);

            box.Value = box.Value;
            box.Put(other);
            _ = box + value;
            foreach (string name in new[] { "get_Value", "set_Value", "set_Made", "op_Addition" })
            {
                expected.Plain(Method(typeof(Box<T>), name));
            }
            expected.Plain(typeof(Box<T>).GetConstructor(new[] { typeof(T) }));
            expected.Plain(typeof(Box<T>).TypeInitializer);
            expected.Plain(Method(typeof(Box<T>), "Put", typeof(U)));
            expected.Type(typeof(Box<T>));
        }

        private static void Generic()
        {
            Boxed(1, 2.0);
            Boxed(1L, "text");
            Boxed("text", (byte)1);
            Boxed("text", "text");
            Boxed(new int[1, 1], 'c');
            Boxed(new KeyValuePair<string, int>("a", 1), new KeyValuePair<int, short>(1, 1));
            new Pair<int, Pair<byte, long>>().Swap();
            expected.Plain(Method(typeof(Pair<int, Pair<byte, long>>), "Swap"));
            new Pair<int, string>().Swap();
            expected.Plain(Method(typeof(Pair<int, string>), "Swap"));
        }

        private static void Nested()
        {
            new Outer<int>.Middle.Inner<byte, long>().Do(1.0f);
            expected.Plain(Method(typeof(Outer<int>.Middle.Inner<byte, long>), "Do", typeof(float)));
            expected.Type(typeof(Outer<int>.Middle.Inner<byte, long>));
            new Outer<string>.Middle.Inner<byte, string>().Do("text");
            expected.Plain(Method(typeof(Outer<string>.Middle.Inner<byte, string>), "Do", typeof(string)));
            expected.Type(typeof(Outer<string>.Middle.Inner<byte, string>));
        }

        private static void Machines()
        {
            _ = Worker.Count(3).Sum();
            expected.Machine(Method(typeof(Worker), "Count"), "iterator");
            _ = new Box<int>(1).Each(2L).Count();
            expected.Machine(Method(typeof(Box<int>), "Each", typeof(long)), "iterator");
            _ = new Bag().Sum();
            expected.Machine(Method(typeof(Bag), "System.Collections.Generic.IEnumerable<System.Int32>.GetEnumerator"),
                "iterator");
            _ = new Größe().Fläche(2);
            expected.Plain(Method(typeof(Größe), "Fläche"));
        }

        private static async Task MachinesAsync()
        {
            await Worker.RunAsync(1);
            expected.Machine(Method(typeof(Worker), "RunAsync"), "async");
            await new Box<int>(1).PutAsync((byte)1);
            expected.Machine(Method(typeof(Box<int>), "PutAsync", typeof(byte)), "async");
            await new Box<string>("text").PutAsync("text");
            expected.Machine(Method(typeof(Box<string>), "PutAsync", typeof(string)), "async");
            await new Größe().测量();
            expected.Machine(Method(typeof(Größe), "测量"), "async");
            await foreach (int _ in Worker.CountAsync(2))
            {
            }
            expected.Machine(Method(typeof(Worker), "CountAsync"), "async");
        }

        private static void Functions()
        {
            Func<int, int> lambda = Worker.Lambda(), closure = Worker.Closure(2), local = Worker.Local(3);
            Func<long> later = new Box<int>(1).Later(2L);

            _ = lambda(1) + closure(1) + local(1) + later();
            expected.Inside(Method(typeof(Worker), "Lambda"), lambda.Method, "lambda");
            expected.Inside(Method(typeof(Worker), "Closure"), closure.Method, "lambda");
            expected.Local(Method(typeof(Worker), "Local"), local.Method, "Add", "local");
            expected.Inside(Method(typeof(Box<int>), "Later", typeof(long)), later.Method, "lambda");
        }

        private static async Task FunctionsAsync()
        {
            Func<int, Task<int>> lambda = Worker.LambdaAsync(1), local = Worker.LocalAsync();
            string machine(MethodInfo made) =>
                made.GetCustomAttribute<StateMachineAttribute>().StateMachineType.FullName + ".MoveNext";

            await lambda(1);
            await local(1);
            expected.Named("Tracerd.Managed.Shapes.Worker.LambdaAsync", machine(lambda.Method), "async", "lambda");
            expected.Named("Tracerd.Managed.Shapes.Worker.LocalAsync.AddLater", machine(local.Method), "async", "local");
        }

        private static void Body(ILGenerator code)
        {
            code.Emit(OpCodes.Ldc_I4_1);
            code.Emit(OpCodes.Ret);
        }

        /// <summary>Methods without a compiler: names no language would allow, and one without metadata.</summary>
        private static void Emitted()
        {
            var dynamic = new DynamicMethod("generics \u4e16 dynamic", typeof(int), Type.EmptyTypes);
            ModuleBuilder module = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("emitted"),
                AssemblyBuilderAccess.Run).DefineDynamicModule("emitted");
            TypeBuilder type = module.DefineType("Emitted.\U0001f600 \"type\"", TypeAttributes.Public);
            string[] names = { "plain", "sm\u00f8rrebr\u00f8d", "<odd", "\U0001f680" };
            Type created;

            Body(dynamic.GetILGenerator());
            _ = ((Func<int>)dynamic.CreateDelegate(typeof(Func<int>)))();
            expected.Named("dynamicClass.generics \u4e16 dynamic", "", "dynamic");
            foreach (string name in names)
            {
                Body(type.DefineMethod(name, MethodAttributes.Public | MethodAttributes.Static, typeof(int),
                    Type.EmptyTypes).GetILGenerator());
            }
            created = type.CreateType();
            foreach (string name in names)
            {
                _ = created.GetMethod(name).Invoke(null, null);
                expected.Plain(created.GetMethod(name));
            }
        }

        /// <summary>128 leaves: some 4,000 letters.</summary>
        private static void Huge()
        {
            Type type = typeof(int);

            for (int i = 0; i < 7; i++)
            {
                type = typeof(Pair<,>).MakeGenericType(type, type);
            }
            type.GetMethod("Swap").Invoke(Activator.CreateInstance(type), null);
            expected.Plain(type.GetMethod("Swap"));
        }

        private static void Types(int count)
        {
            Type[] parts = { typeof(bool), typeof(char), typeof(sbyte), typeof(byte), typeof(short), typeof(ushort),
                typeof(int), typeof(uint), typeof(long), typeof(ulong), typeof(float), typeof(double), typeof(decimal),
                typeof(DateTime), typeof(TimeSpan), typeof(Guid), typeof(string), typeof(object), typeof(int[]),
                typeof(string[,][]), typeof(IntPtr), typeof(Pair<int, string>) };

            for (int i = 0; i < count; i++)
            {
                Type type = typeof(Triple<,,>).MakeGenericType(parts[i % 22], parts[i / 22 % 22], parts[i / 484 % 22]);

                RuntimeHelpers.RunClassConstructor(type.TypeHandle);
                expected.Type(type);
            }
        }
    }
}
