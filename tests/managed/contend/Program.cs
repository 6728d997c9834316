using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;

namespace Tracerd.Managed
{
    /// <summary>
    /// One thread holds a lock until another is seen to wait for it, again and again; what each wait took is measured by
    /// the waiter itself. Arguments: rounds, milliseconds that the lock is held beyond that.
    /// </summary>
    internal static class Contend
    {
        private static readonly object theLock = new object();
        private static readonly SemaphoreSlim taken = new SemaphoreSlim(0);
        private static readonly SemaphoreSlim released = new SemaphoreSlim(0);

        private static int Main(string[] arguments)
        {
            int rounds = int.Parse(arguments[0]);
            int held = int.Parse(arguments[1]);
            var waits = new List<string>();
            int ownerTid = 0, waiterTid = 0;
            long before = Monitor.LockContentionCount;
            var waiter = new Thread(() => Wait(rounds, waits, out waiterTid)) { Name = "waiter" };
            var owner = new Thread(() => Own(rounds, held, waiter, out ownerTid)) { Name = "owner" };

            Console.Out.Write("ready " + Process.GetCurrentProcess().Id + "\n");
            Console.Out.Flush();
            owner.Start();
            waiter.Start();
            owner.Join();
            waiter.Join();
            Console.Out.Write("{\"pid\":" + Process.GetCurrentProcess().Id
                + ",\"runtime\":" + Report.Quote(Environment.Version.ToString())
                + ",\"contentions\":" + (Monitor.LockContentionCount - before)
                + ",\"owner\":" + ownerTid + ",\"waiter\":" + waiterTid
                + ",\"waited_ns\":[" + string.Join(",", waits) + "]}\n");
            Console.Out.Flush();
            return 0;
        }

        private static void Own(int rounds, int held, Thread waiter, out int tid)
        {
            tid = Native.CurrentTid;
            for (int i = 0; i < rounds; i++)
            {
                lock (theLock)
                {
                    taken.Release();
                    /* It spins first; then it sleeps in the lock, and is found there. */
                    do
                    {
                        Thread.Sleep(held);
                    }
                    while ((waiter.ThreadState & System.Threading.ThreadState.WaitSleepJoin) == 0);
                }
                released.Wait();
            }
        }

        private static void Wait(int rounds, List<string> waits, out int tid)
        {
            tid = Native.CurrentTid;
            for (int i = 0; i < rounds; i++)
            {
                taken.Wait();
                long start = Stopwatch.GetTimestamp();

                lock (theLock)
                {
                    long ticks = Stopwatch.GetTimestamp() - start;

                    waits.Add((ticks * (1000000000L / Stopwatch.Frequency)).ToString());
                }
                released.Release();
            }
        }
    }
}
