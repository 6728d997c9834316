using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tracerd.Managed
{
    /// <summary>
    /// A method that another profiler, the library in the argument, gives a new body. "rejitted" when it runs in it; a line
    /// ends the row.
    /// </summary>
    internal static class Rejit
    {
        private static int calls;

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int Ask(int token);

        public static void Change(Facts facts, string[] arguments)
        {
            IntPtr library = NativeLibrary.Load(arguments[1]);
            var ask = Marshal.GetDelegateForFunctionPointer<Ask>(NativeLibrary.GetExport(library, "rejitter_ask"));
            MethodInfo changed = typeof(Rejit).GetMethod("Changed", BindingFlags.NonPublic | BindingFlags.Static);
            int status;

            Changed();
            status = ask(changed.MetadataToken);
            if (status != 0)
            {
                throw new Unexpected("RequestReJIT: 0x" + status.ToString("x8"));
            }
            Changed();
            Console.Out.WriteLine("rejitted");
            Console.In.ReadLine();
            if (calls != 2)
            {
                throw new Unexpected("Changed ran " + calls + " times");
            }
        }

        /// <summary>Of one body for good, but for what a profiler does.</summary>
        [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
        private static void Changed() => calls++;
    }
}
