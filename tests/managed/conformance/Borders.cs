using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class InCallback : Exception { }

    internal sealed class InFinalizer : Exception { }

    /// <summary>
    /// Where managed code meets other code. `pinvoke`: native qsort calls back into managed code, which throws and catches.
    /// `transitions COUNT`: as many calls of a native function by name and by a delegate, and again qsort.
    /// `finalizers COUNT`: objects whose finalizers throw and catch on the runtime's own thread.
    /// </summary>
    internal static class Borders
    {
        private static int compared;
        private static int finalized;
        private static int finalizerTid;

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int Comparison(ref int left, ref int right);

        [DllImport("libc")]
        private static extern void qsort(int[] values, UIntPtr count, UIntPtr size, Comparison comparison);

        private delegate int NoArguments();

        [DllImport("libc")]
        private static extern int getppid();

        [DllImport("libc")]
        private static extern IntPtr dlsym(IntPtr library, string name);

        public static void Transitions(Facts facts, string[] arguments)
        {
            int count = int.Parse(arguments[1]);
            var byDelegate = Marshal.GetDelegateForFunctionPointer<NoArguments>(dlsym(IntPtr.Zero, "getppid"));
            int parent = getppid();

            for (int i = 1; i < count; i++)
            {
                Unexpected.Unless(getppid() == parent, "another parent");
            }
            for (int i = 0; i < count; i++)
            {
                Unexpected.Unless(byDelegate() == parent, "another parent by delegate");
            }
            facts.Add("called", count);
            PInvoke(facts, arguments);
        }

        public static void PInvoke(Facts facts, string[] arguments)
        {
            int[] values = { 5, 3, 8, 1, 9, 2, 7 };
            Comparison comparison = Compare;

            qsort(values, (UIntPtr)values.Length, (UIntPtr)sizeof(int), comparison);
            GC.KeepAlive(comparison);
            facts.Add("compared", compared);
            facts.Add("tid", Native.CurrentTid);
            Unexpected.Unless(string.Join(",", values) == "1,2,3,5,7,8,9", "qsort did not sort");
        }

        private static int Compare(ref int left, ref int right)
        {
            compared++;
            try
            {
                throw new InCallback();
            }
            catch (InCallback)
            {
                return left.CompareTo(right);
            }
        }

        public static void Finalizers(Facts facts, string[] arguments)
        {
            int count = int.Parse(arguments[1]);

            Make(count);
            for (int i = 0; i < 100 && Volatile.Read(ref finalized) < count; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            facts.Add("finalized", finalized);
            facts.Add("tid", finalizerTid);
            Unexpected.Unless(finalized == count, finalized + " of " + count + " were finalized");
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Make(int count)
        {
            for (int i = 0; i < count; i++)
            {
                GC.KeepAlive(new Mortal());
            }
        }

        private sealed class Mortal
        {
            ~Mortal()
            {
                try
                {
                    throw new InFinalizer();
                }
                catch (InFinalizer)
                {
                    finalizerTid = Native.CurrentTid;
                    Interlocked.Increment(ref finalized);
                }
            }
        }
    }
}
