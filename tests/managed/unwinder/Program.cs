using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Tracerd.Managed
{
    internal class Planned : Exception
    {
        public Planned(string message) : base(message)
        {
        }
    }

    internal sealed class Nameless : Exception
    {
    }

    /// <summary>Whoever reads the property runs this program's code, and is counted.</summary>
    internal sealed class Talkative : Exception
    {
        public static int Asked;

        public Talkative() : base("kept")
        {
        }

        public override string Message
        {
            get
            {
                Asked++;
                return "told";
            }
        }
    }

    /// <summary>
    /// Exceptions that pass filters, finally blocks and frames, and what their messages are. `order` holds the steps that
    /// the program itself can see, `messages` what System.Exception's own field holds, read by reflection.
    /// </summary>
    internal static class Unwinder
    {
        private const string Prefix = "Tracerd.Managed.Unwinder.";
        private static readonly FieldInfo MessageField =
            typeof(Exception).GetField("_message", BindingFlags.Instance | BindingFlags.NonPublic);

        private static readonly List<string> Order = new List<string>();
        private static readonly List<string> Messages = new List<string>();

        private static int Main()
        {
            AppDomain.CurrentDomain.FirstChanceException += (_, e) => NoteThrown(e.Exception);
            Plain();
            Filtered();
            Passed();
            TwoAtOnce();
            ThrownAgain();
            Say();
            Print();
            return 0;
        }

        private static void NoteThrown(Exception e)
        {
            Order.Add("throw " + e.GetType().FullName);
            Messages.Add((string)MessageField.GetValue(e));
        }

        private static bool Note(string step, string method, bool answer = true)
        {
            Order.Add(step + " " + Prefix + method);
            return answer;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Plain()
        {
            try
            {
                throw new Planned("plain");
            }
            catch (Planned)
            {
                Note("catch", nameof(Plain));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Filtered()
        {
            try
            {
                Refused();
            }
            catch (Planned) when (Note("filter", nameof(Filtered)))
            {
                Note("catch", nameof(Filtered));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Refused()
        {
            try
            {
                throw new Planned("filtered");
            }
            catch (Planned) when (Note("filter", nameof(Refused), false))
            {
                Note("catch", nameof(Refused));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Passed()
        {
            try
            {
                Upper();
            }
            catch (Planned)
            {
                Note("catch", nameof(Passed));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Upper()
        {
            try
            {
                Lower();
            }
            finally
            {
                Note("finally", nameof(Upper));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Lower()
        {
            try
            {
                throw new Planned("passed");
            }
            finally
            {
                Note("finally", nameof(Lower));
            }
        }

        /// <summary>A finally block of one exception throws and catches another.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void TwoAtOnce()
        {
            try
            {
                Busy();
            }
            catch (Planned)
            {
                Note("catch", nameof(TwoAtOnce));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Busy()
        {
            try
            {
                throw new Planned("first");
            }
            finally
            {
                Note("finally", nameof(Busy));
                Second();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Second()
        {
            try
            {
                throw new Planned("second");
            }
            catch (Planned)
            {
                Note("catch", nameof(Second));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ThrownAgain()
        {
            try
            {
                ThrowsAgain();
            }
            catch (Planned)
            {
                Note("catch", nameof(ThrownAgain));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ThrowsAgain()
        {
            try
            {
                throw new Planned("again");
            }
            catch (Planned)
            {
                Note("catch", nameof(ThrowsAgain));
                throw;
            }
        }

        private static void Say()
        {
            Exception[] spoken =
            {
                new Planned(""), new Planned("\u00fcber \u4e16\u754c \U0001f600 \" \\ \n"), new Planned(new string('x', 256)),
                new Planned(new string('\u4e16', 257)), new Planned(new string('y', 100000)), new Nameless(), new Talkative(),
                new InvalidOperationException("theirs"), new AggregateException("one of", new Planned("inner")),
            };

            foreach (Exception e in spoken)
            {
                try
                {
                    throw e;
                }
                catch (Exception)
                {
                    Note("catch", nameof(Say));
                }
            }
        }

        private static void Print()
        {
            string messages = string.Join(",", Messages.Select(m => m == null ? "null" : Report.Quote(m)));

            Console.Out.Write("{\"pid\":" + System.Diagnostics.Process.GetCurrentProcess().Id
                + ",\"order\":[" + string.Join(",", Order.Select(Report.Quote)) + "],\"messages\":[" + messages
                + "],\"asked\":" + Talkative.Asked + "}\n");
            Console.Out.Flush();
        }
    }
}
