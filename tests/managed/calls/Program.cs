using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Tracerd.Managed.Traced;

namespace Tracerd.Managed
{
    /// <summary>
    /// Calls whose tree the program writes down itself: recursion, exceptions through frames, tail calls, generics, async,
    /// several threads. Arguments and results that a hook spoils are counted. With a word it does that part only, and with
    /// `killed` behind it the program prints its report, calls Fibonacci(8) and ends as by kill -9.
    /// </summary>
    internal static class Calls
    {
        private static readonly List<long[]> times = new List<long[]>();
        private static int wrong;

        private static int Main(string[] arguments)
        {
            string only = arguments.Length > 0 ? arguments[0] : null;

            Part(only, "plain", CallPlain);
            Part(only, "failing", Fail);
            Part(only, "tail", () => Check(Emitted.Make()(100)));
            Part(only, "generic", CallGeneric);
            Part(only, "tiers", ChangeTiers);
            Part(only, "threads", CallFromThreads);
            Part(only, "async", CallLater);
            Part(only, "times", CallAtTimes);
            Part(only, "native", CallOut);
            Console.Out.Write("{\"pid\":" + Process.GetCurrentProcess().Id + ",\"runtime\":"
                + Report.Quote(Environment.Version.ToString()) + ",\"wrong\":" + wrong + ",\"calls\":" + CallLog.Json()
                + ",\"times\":[" + string.Join(",", times.Select(t => "[" + t[0] + "," + t[1] + "]")) + "]}\n");
            Console.Out.Flush();
            if (arguments.Length > 1 && arguments[1] == "killed")
            {
                Plain.Fibonacci(8);
                Native.kill(Process.GetCurrentProcess().Id, 9);
            }
            return 0;
        }

        private static void Part(string only, string name, Action part)
        {
            if (only == null || only == name)
            {
                part();
            }
        }

        private static void Check(bool right)
        {
            if (!right)
            {
                Interlocked.Increment(ref wrong);
            }
        }

        private static void CallPlain()
        {
            Check(Plain.Fibonacci(8) == 21);
            for (int i = 0; i < 3; i++)
            {
                Check(Plain.Many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, "four") == 823);
                Pair pair = Plain.Both(i, i + 0.5);
                Check(pair.First == i && pair.Second == i + 0.5);
                Check(Plain.Large(decimal.MaxValue - 1) == decimal.MaxValue);
            }
        }

        private static void Swallow(Action action)
        {
            try
            {
                action();
                Check(false);
            }
            catch (Exception e) when (e is InvalidOperationException || e is ArgumentException)
            {
            }
        }

        private static void Fail()
        {
            for (int i = 0; i < 3; i++)
            {
                Failing.Catch(4);
                Swallow(Failing.CatchInFinally);
                Swallow(Failing.Replace);
                Swallow(Failing.Rethrow);
                Failing.Filtered();
                Plain.Small();
            }
        }

        private static void CallGeneric()
        {
            Check(new Box<int>().Put(1, "x") == 1);
            Check(new Box<string>().Put("y", 2) == "y");
            Check(new Box<object>().Put("z", 2.5).Equals("z"));
            Check(new Box<Pair>().Put(new Pair { First = 3 }, 'c').First == 3);
        }

        /// <summary>Enough calls, and time for the runtime to compile anew.</summary>
        private static void ChangeTiers()
        {
            Check(Plain.Loop(200000) > 0);
            for (int turn = 0; turn < 4; turn++)
            {
                for (int i = 0; i < 40; i++)
                {
                    Plain.Small();
                    Check(Plain.Fibonacci(2) == 1);
                }
                Thread.Sleep(150);
            }
        }

        private static void CallFromThreads()
        {
            var threads = new Thread[4];

            for (int i = 0; i < threads.Length; i++)
            {
                threads[i] = new Thread(() =>
                {
                    Check(Plain.Fibonacci(6) == 8);
                    Failing.Catch(2);
                });
                threads[i].Start();
            }
            foreach (Thread thread in threads)
            {
                thread.Join();
            }
        }

        /// <summary>50 calls out that come back, and one that calls in again.</summary>
        private static void CallOut()
        {
            int[] numbers = { 5, 3, 9, 1, 7, 2 };

            for (int i = 0; i < 50; i++)
            {
                Check(Outside.abs(-i) == i);
            }
            Outside.qsort(numbers, (IntPtr)numbers.Length, (IntPtr)sizeof(int), Outside.Compare);
            Check(string.Join(",", numbers) == "1,2,3,5,7,9");
        }

        /// <summary>Calls with CLOCK_MONOTONIC, which is what Stopwatch reads, just before and just after.</summary>
        private static void CallAtTimes()
        {
            Check(Stopwatch.Frequency == 1000000000);
            for (int i = 0; i < 300; i++)
            {
                long before = Stopwatch.GetTimestamp();

                Plain.Timed();
                times.Add(new[] { before, Stopwatch.GetTimestamp() });
                if (i % 10 == 0)
                {
                    Thread.Sleep(3);
                }
            }
        }

        private static void CallLater()
        {
            CallLog.Enter("Later.Run");
            Task<int> running = Later.Run(5);
            CallLog.Leave("Later.Run");
            Check(running.GetAwaiter().GetResult() == 10);
            CallLog.Enter("Later.Fail");
            Task<int> failing = Later.Fail();
            CallLog.Leave("Later.Fail");
            Swallow(() => failing.GetAwaiter().GetResult());
        }
    }
}
