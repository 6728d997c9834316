using System;
using System.Reflection;
using System.Reflection.Emit;

namespace Tracerd.Managed
{
    /// <summary>Even and Odd, which call each other as tail calls: C# has no word for those.</summary>
    internal static class Emitted
    {
        public static Func<int, bool> Make()
        {
            ModuleBuilder module = AssemblyBuilder
                .DefineDynamicAssembly(new AssemblyName("emitted"), AssemblyBuilderAccess.Run).DefineDynamicModule("emitted");
            TypeBuilder type = module.DefineType("Tracerd.Managed.Traced.Tail", TypeAttributes.Public);
            MethodBuilder even = Define(type, "Even"), odd = Define(type, "Odd");

            Fill(even, "Tail.Even", odd, true);
            Fill(odd, "Tail.Odd", even, false);
            return (Func<int, bool>)type.CreateType().GetMethod("Even").CreateDelegate(typeof(Func<int, bool>));
        }

        private static MethodBuilder Define(TypeBuilder type, string name) =>
            type.DefineMethod(name, MethodAttributes.Public | MethodAttributes.Static, typeof(bool), new[] { typeof(int) });

        private static void Fill(MethodBuilder method, string name, MethodBuilder other, bool atZero)
        {
            ILGenerator code = method.GetILGenerator();
            Label more = code.DefineLabel();

            Log(code, "Enter", name);
            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Brtrue, more);
            Log(code, "Leave", name);
            code.Emit(atZero ? OpCodes.Ldc_I4_1 : OpCodes.Ldc_I4_0);
            code.Emit(OpCodes.Ret);
            code.MarkLabel(more);
            Log(code, "TailCall", name);
            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Ldc_I4_1);
            code.Emit(OpCodes.Sub);
            code.Emit(OpCodes.Tailcall);
            code.Emit(OpCodes.Call, other);
            code.Emit(OpCodes.Ret);
        }

        private static void Log(ILGenerator code, string what, string name)
        {
            code.Emit(OpCodes.Ldstr, name);
            code.Emit(OpCodes.Call, typeof(CallLog).GetMethod(what));
        }
    }
}
