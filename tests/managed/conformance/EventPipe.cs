using System;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Threading;

namespace Tracerd.Managed
{
    [EventSource(Name = "Tracerd-Conformance")]
    internal sealed class ThreeEvents : EventSource
    {
        [Event(1, Level = EventLevel.Informational, Version = 2)]
        public void First(int number, string text) => WriteEvent(1, number, text);

        [Event(2, Level = EventLevel.Warning)]
        public void Second(double number, Guid guid) => WriteEvent(2, number, guid);

        [Event(3, Level = EventLevel.Error)]
        public void Third() => WriteEvent(3);
    }

    /// <summary>`ep-parse`: three events of a source of its own, once somebody listens to it.</summary>
    internal static class EventPipe
    {
        private const int LongestWaitSeconds = 20;

        public static void Parse(Facts facts, string[] arguments)
        {
            using (var source = new ThreeEvents())
            {
                facts.Add("enabled", IsListenedTo(source) ? 1 : 0);
                source.First(-7, "gr\u00fc\u00dfe");
                source.Second(0.25, new Guid("01234567-89ab-cdef-0123-456789abcdef"));
                source.Third();
                facts.Add("tid", Native.CurrentTid);
            }
        }

        /// <summary>An attached session may come a moment later; to runtimes before 5 it never does.</summary>
        private static bool IsListenedTo(EventSource source)
        {
            var waited = Stopwatch.StartNew();

            while (Environment.Version.Major >= 5 && !source.IsEnabled() && waited.Elapsed.TotalSeconds < LongestWaitSeconds)
            {
                Thread.Sleep(1);
            }
            return source.IsEnabled();
        }
    }
}
