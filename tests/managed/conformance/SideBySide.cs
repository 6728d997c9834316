using System;
using System.Linq;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class FirstAct : Exception { }

    internal sealed class SecondAct : Exception { }

    /// <summary>
    /// `coexist`: collects 3 times and throws 5 times, prints "holding", ends a thread for each line "next", and at another
    /// line collects 2 times and throws 4 times. `collecting`: three threads collect again and again until a line comes in; before, it
    /// prints "tids" with theirs and "holding".
    /// </summary>
    internal static class SideBySide
    {
        private static int stop;

        public static void Coexist(Facts facts, string[] arguments)
        {
            int before = GC.CollectionCount(0);

            Act<FirstAct>(3, 5);
            Console.Out.WriteLine("holding");
            while (Console.In.ReadLine() == "next")
            {
                EndThread();
            }
            Act<SecondAct>(2, 4);
            Unexpected.Unless(GC.CollectionCount(0) - before >= 5, "fewer collections than were asked for");
        }

        public static void Collecting(Facts facts, string[] arguments)
        {
            var tids = new int[3];
            using var started = new CountdownEvent(tids.Length);
            Thread[] threads = Enumerable.Range(0, tids.Length)
                .Select(i => new Thread(() => Collect(out tids[i], started)) { Name = "collector " + i }).ToArray();

            foreach (Thread thread in threads)
            {
                thread.Start();
            }
            started.Wait();
            Console.Out.WriteLine("tids " + string.Join(" ", tids));
            Console.Out.WriteLine("holding");
            Console.In.ReadLine();
            Volatile.Write(ref stop, 1);
            foreach (Thread thread in threads)
            {
                thread.Join();
            }
            facts.Add("names", threads.Select(thread => thread.Name));
            Unexpected.Unless(GC.CollectionCount(0) > 0, "nothing was collected");
        }

        private static void Collect(out int tid, CountdownEvent started)
        {
            tid = Native.CurrentTid;
            started.Signal();
            while (Volatile.Read(ref stop) == 0)
            {
                GC.Collect(0, GCCollectionMode.Forced, true);
                Thread.Sleep(1);
            }
        }

        private static void Act<T>(int collections, int exceptions)
            where T : Exception, new()
        {
            for (int i = 0; i < collections; i++)
            {
                GC.Collect();
            }
            for (int i = 0; i < exceptions; i++)
            {
                try
                {
                    throw new T();
                }
                catch (T)
                {
                }
            }
        }

        private static void EndThread()
        {
            var thread = new Thread(() => { });

            thread.Start();
            thread.Join();
        }
    }
}
