using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;

namespace Tracerd.Managed
{
    /// <summary>
    /// One row of the conformance suite: `app.dll ROW [ARGUMENT…]`. Prints "ready PID", waits for a line or the end of its
    /// input (so that a tracer may attach), does what the row says, compares with what it must be, prints "PASSED ROW" if it
    /// is, and what it counted as one JSON object. Exit code 100 and the marker together mean that it went as planned.
    /// </summary>
    internal static class Conformance
    {
        private const int Passed = 100;

        private static readonly Dictionary<string, Action<Facts, string[]>> Rows =
            new Dictionary<string, Action<Facts, string[]>>(StringComparer.Ordinal)
            {
                { "alc-unload", Loading.Unload },
                { "blocked", Waiting.Blocked },
                { "class-balance", Family.Balance },
                { "coexist", SideBySide.Coexist },
                { "collecting", SideBySide.Collecting },
                { "dataincomplete", Loading.Incomplete },
                { "dynamic-methods", Emitted.Methods },
                { "ep-parse", EventPipe.Parse },
                { "everything", Everything.Once },
                { "exception-order", ExceptionOrder.Run },
                { "finalizers", Borders.Finalizers },
                { "gc-balance", GcBalance.Run },
                { "gc-straggler", Waiting.Straggler },
                { "inlining", Inlining.Note },
                { "alloc-large", Large.Run },
                { "module-balance", Loading.Balance },
                { "pinvoke", Borders.PInvoke },
                { "rejit", Rejit.Change },
                { "threads", Threads.Run },
                { "ticks", Ticks.Run },
                { "toggle", Everything.Toggle },
                { "transitions", Borders.Transitions },
                { "types-10000", Emitted.Types },
                { "unicode-names", Emitted.Unicode },
            };

        private static int Main(string[] arguments)
        {
            var facts = new Facts();
            bool passed;

            Console.Out.WriteLine("ready " + Process.GetCurrentProcess().Id);
            Console.In.ReadLine();
            facts.Begin();
            passed = Try(facts, arguments);
            facts.End();
            if (passed)
            {
                Console.Out.WriteLine("PASSED " + arguments[0]);
            }
            facts.Print();
            if (passed && Array.IndexOf(arguments, "exit") > 0)
            {
                ExitFromElsewhere();
            }
            return passed ? Passed : 1;
        }

        private static void ExitFromElsewhere()
        {
            new Thread(() => Environment.Exit(Passed)).Start();
            Thread.Sleep(Timeout.Infinite);
        }

        private static bool Try(Facts facts, string[] arguments)
        {
            try
            {
                Rows[arguments[0]](facts, arguments);
                return true;
            }
            catch (Unexpected problem)
            {
                Console.Error.WriteLine(problem.Message);
                return false;
            }
        }
    }

    /// <summary>The program itself did not get what it must.</summary>
    internal sealed class Unexpected : Exception
    {
        public Unexpected(string message)
            : base(message)
        {
        }

        public static void Unless(bool condition, string message)
        {
            if (!condition)
            {
                throw new Unexpected(message);
            }
        }
    }
}
