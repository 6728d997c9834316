using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class OnThread : Exception { }

    /// <summary>
    /// `threads COUNT [hold]`: that many named threads, all alive at once. Each reads its own id from /proc, compares it with
    /// gettid, throws once. With `hold` they stay until a line comes in, "holding" printed before, so that somebody else may
    /// look them up in /proc.
    /// </summary>
    internal static class Threads
    {
        public static void Run(Facts facts, string[] arguments)
        {
            int count = int.Parse(arguments[1]);
            var tids = new int[count];
            var others = new List<Thread>();
            using var working = new CountdownEvent(count);
            using var leave = new ManualResetEventSlim();

            for (int i = 0; i < count; i++)
            {
                int number = i;
                var thread = new Thread(() => Work(number, tids, working, leave), 256 << 10) { Name = NameOf(number) };

                others.Add(thread);
                thread.Start();
            }
            working.Wait();
            if (arguments.Contains("hold"))
            {
                Console.Out.WriteLine("holding");
                Console.In.ReadLine();
            }
            leave.Set();
            others.ForEach(thread => thread.Join());
            facts.Add("names", Enumerable.Range(0, count).Select(NameOf));
            facts.Add("tids", tids);
            Unexpected.Unless(tids.Distinct().Count() == count && !tids.Contains(0), "thread ids are not distinct");
        }

        private static string NameOf(int number) => "conformance thread number " + number;

        private static void Work(int number, int[] tids, CountdownEvent working, ManualResetEventSlim leave)
        {
            try
            {
                throw new OnThread();
            }
            catch (OnThread)
            {
                int own = TidFromProc();

                tids[number] = own == Native.CurrentTid ? own : 0;
            }
            working.Signal();
            leave.Wait();
        }

        /// <summary>The first field of the kernel's own line about the thread that reads it.</summary>
        private static int TidFromProc() => int.Parse(File.ReadAllText("/proc/thread-self/stat").Split(' ')[0]);
    }
}
