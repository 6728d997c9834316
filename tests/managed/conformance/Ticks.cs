using System.Diagnostics.Tracing;

namespace Tracerd.Managed
{
    [EventSource(Name = "Tracerd-Conformance")]
    internal sealed class TickSource : EventSource
    {
        public static readonly TickSource Log = new TickSource();

        [Event(1, Level = EventLevel.Informational)]
        public void Tick(int number, string text, double half) => WriteEvent(1, number, text, half);

        [Event(2, Level = EventLevel.Informational)]
        public void Last(long sum) => WriteEvent(2, sum);
    }

    /// <summary>`ticks COUNT`: as many events of an EventSource of this program, in a row, and one that closes it.</summary>
    internal static class Ticks
    {
        public static void Run(Facts facts, string[] arguments)
        {
            int count = int.Parse(arguments[1]);
            long sum = 0;

            for (int i = 0; i < count; i++)
            {
                TickSource.Log.Tick(i, "tick \u00e4 " + i % 10, i / 2.0);
                sum += i;
            }
            TickSource.Log.Last(sum);
            facts.Add("ticks", count);
            facts.Add("sum", sum);
        }
    }
}
