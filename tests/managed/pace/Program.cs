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

    /// <summary>
    /// Threads that call at a steady pace, in small portions with a sleep between them, however long each sleep takes.
    /// Arguments: threads, calls a second of each, seconds.
    /// </summary>
    internal static class Pace
    {
        private static int Main(string[] arguments)
        {
            int count = int.Parse(arguments[0]);
            long perSecond = long.Parse(arguments[1]), total = perSecond * int.Parse(arguments[2]);
            long start = Stopwatch.GetTimestamp();
            Thread[] threads = Enumerable.Range(0, count).Select(_ => new Thread(() => Call(perSecond, total))).ToArray();

            foreach (Thread thread in threads)
            {
                thread.Start();
            }
            foreach (Thread thread in threads)
            {
                thread.Join();
            }
            double seconds = (Stopwatch.GetTimestamp() - start) / (double)Stopwatch.Frequency;
            Console.Out.Write(FormattableString.Invariant(
                $"{{\"pid\":{Process.GetCurrentProcess().Id},\"calls\":{count * total},\"seconds\":{seconds:F3}}}\n"));
            Console.Out.Flush();
            return 0;
        }

        private static void Call(long perSecond, long total)
        {
            long start = Stopwatch.GetTimestamp(), done = 0;

            while (done < total)
            {
                long due = Math.Min(total, (Stopwatch.GetTimestamp() - start) * perSecond / Stopwatch.Frequency);

                for (; done < due; done++)
                {
                    Hooked.Step(0);
                }
                Thread.Sleep(1);
            }
        }
    }
}
