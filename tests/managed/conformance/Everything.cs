using System;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class OneOfAll : Exception { }

    /// <summary>
    /// `everything`: something of each kind: a collection, an exception, a named thread, a load context that goes again, a lock
    /// two threads want, work for the thread pool, some allocation. `toggle`: on each line of input once more a collection, an
    /// exception, a named thread, answered with "done".
    /// </summary>
    internal static class Everything
    {
        public static void Once(Facts facts, string[] arguments)
        {
            RunThread(Act);
            Loading.Unload(facts, new[] { "", "1" });
            Contend();
            UseThreadPool();
            Allocate();
        }

        public static void Toggle(Facts facts, string[] arguments)
        {
            int turns = 0;

            while (Console.In.ReadLine() == "again")
            {
                turns++;
                Act();
                RunThread(() => { });
                Console.Out.WriteLine("done");
            }
            facts.Add("turns", turns);
            Unexpected.Unless(turns > 0, "nobody asked for anything");
        }

        private static void Act()
        {
            GC.Collect();
            try
            {
                throw new OneOfAll();
            }
            catch (OneOfAll)
            {
            }
        }

        private static void RunThread(ThreadStart work)
        {
            var thread = new Thread(work) { Name = "one of all" };

            thread.Start();
            thread.Join();
        }

        private static void Contend()
        {
            object key = new object();
            using var taken = new ManualResetEventSlim();
            var owner = new Thread(() =>
            {
                lock (key)
                {
                    taken.Set();
                    Thread.Sleep(50);
                }
            });

            owner.Start();
            taken.Wait();
            lock (key)
            {
                owner.Join();
            }
        }

        private static void UseThreadPool()
        {
            using var done = new CountdownEvent(20);

            for (int i = 0; i < 20; i++)
            {
                ThreadPool.QueueUserWorkItem(_ => done.Signal());
            }
            done.Wait();
        }

        private static void Allocate()
        {
            for (int i = 0; i < 4000; i++)
            {
                GC.KeepAlive(new byte[1000]);
            }
        }
    }
}
