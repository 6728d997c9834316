using System;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Tracerd.Managed
{
    internal static class Hooked
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Step(int value) => value + 1;
    }

    internal static class Unhooked
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Step(int value) => value + 1;
    }

    /// <summary>
    /// What a call costs, in slices small enough for a ring, with a pause after each for whoever empties it.
    /// Arguments: slices, calls of each. The report holds nanoseconds per call, of the best slice and of the one in the middle.
    /// </summary>
    internal static class Pairs
    {
        private static int Main(string[] arguments)
        {
            int slices = int.Parse(arguments[0]), calls = int.Parse(arguments[1]);
            var hooked = new double[slices];
            var unhooked = new double[slices];
            int sum = 0;

            for (int i = 0; i < slices; i++)
            {
                Thread.Sleep(1);
                hooked[i] = Time(calls, ref sum, CallHooked);
                unhooked[i] = Time(calls, ref sum, CallUnhooked);
            }
            Console.Out.Write("{\"pid\":" + Process.GetCurrentProcess().Id + ",\"runtime\":"
                + Report.Quote(Environment.Version.ToString()) + ",\"calls\":" + (long)slices * calls + ",\"sum\":" + sum
                + ",\"hooked\":" + Json(hooked) + ",\"unhooked\":" + Json(unhooked) + "}\n");
            Console.Out.Flush();
            return 0;
        }

        private static string Json(double[] each)
        {
            double[] sorted = each.OrderBy(ns => ns).ToArray();

            return FormattableString.Invariant($"{{\"best\":{sorted[0]:F2},\"median\":{sorted[sorted.Length / 2]:F2}}}");
        }

        private static double Time(int calls, ref int sum, Func<int, int> loop)
        {
            long start = Stopwatch.GetTimestamp();

            sum += loop(calls);
            return (Stopwatch.GetTimestamp() - start) * 1e9 / Stopwatch.Frequency / calls;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CallHooked(int calls)
        {
            int value = 0;

            for (int i = 0; i < calls; i++)
            {
                value = Hooked.Step(value);
            }
            return value;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int CallUnhooked(int calls)
        {
            int value = 0;

            for (int i = 0; i < calls; i++)
            {
                value = Unhooked.Step(value);
            }
            return value;
        }
    }
}
