using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Threading;

namespace Tracerd.Managed
{
    internal enum Colour
    {
        Red = 1,
        Blue = 7,
    }

    /// <summary>Described by its methods: every type such an event may carry.</summary>
    [EventSource(Name = "Tracerd-Test")]
    internal sealed class TestSource : EventSource
    {
        public static readonly TestSource Log = new TestSource();

        public static class Keywords
        {
            public const EventKeywords Types = (EventKeywords)1;
            public const EventKeywords Burst = (EventKeywords)2;
            public const EventKeywords Texts = (EventKeywords)4;
        }

        [Event(1, Keywords = Keywords.Types, Level = EventLevel.Informational, Version = 3)]
        public void Numbers(bool yes, char letter, sbyte i8, byte u8, short i16, ushort u16, int i32, uint u32, long i64, ulong u64)
            => WriteEvent(1, yes, letter, i8, u8, i16, u16, i32, u32, i64, u64);

        [Event(2, Keywords = Keywords.Types, Level = EventLevel.Warning)]
        public void Others(float single, double number, Guid guid, DateTime when, Colour colour, IntPtr pointer)
            => WriteEvent(2, single, number, guid, when, colour, pointer);

        [Event(3, Keywords = Keywords.Texts, Level = EventLevel.Informational)]
        public void Texts(string first, string second, string empty) => WriteEvent(3, first, second, empty);

        [Event(4, Keywords = Keywords.Burst, Level = EventLevel.Verbose)]
        public void Tick(int number) => WriteEvent(4, number);

        [Event(5, Keywords = Keywords.Types, Level = EventLevel.Informational)]
        public void Bytes(byte[] bytes, int behind) => WriteEvent(5, bytes, behind);

        [Event(6, Keywords = Keywords.Types, Level = EventLevel.Informational)]
        public void Nothing() => WriteEvent(6);
    }

    [EventData]
    internal sealed class Inner
    {
        public int Depth { get; set; }

        public string Name { get; set; }
    }

    [EventData]
    internal sealed class Outer
    {
        public Inner Inner { get; set; }

        public bool Yes { get; set; }

        public double Last { get; set; }
    }

    [EventData]
    internal sealed class Arrays
    {
        public int[] Numbers { get; set; }

        public IEnumerable<double> Halves { get; set; }

        public bool[] Bools { get; set; }
    }

    /// <summary>Writes known events to two event sources. Arguments: ticks of the burst, threads that write them.</summary>
    internal static class Sources
    {
        private static int Main(string[] arguments)
        {
            int ticks = int.Parse(arguments[0]);
            var threads = new Thread[int.Parse(arguments[1])];
            var guid = new Guid("01234567-89ab-cdef-0123-456789abcdef");
            var when = new DateTime(2020, 2, 29, 12, 34, 56, DateTimeKind.Utc);

            using (var described = new EventSource("Tracerd-Test-Self", EventSourceSettings.EtwSelfDescribingEventFormat))
            {
                TestSource.Log.Numbers(true, '\u00e4', -128, 255, -32768, 65535, int.MinValue, uint.MaxValue, long.MinValue,
                    ulong.MaxValue);
                TestSource.Log.Others(0.1f, Math.PI, guid, when, Colour.Blue, new IntPtr(0x123456789abL));
                TestSource.Log.Texts("gr\u00fc\u00dfe \ud83d\ude00", new string('x', 5000), "");
                TestSource.Log.Bytes(new byte[] { 0, 1, 254, 255 }, 42);
                TestSource.Log.Nothing();
                described.Write("Described", new Outer
                {
                    Inner = new Inner { Depth = 2, Name = "in\u00f1er" },
                    Yes = true,
                    Last = 2.5,
                });
                described.Write("Arrays", new Arrays
                {
                    Numbers = new[] { 1, -2, 3 },
                    Halves = new[] { 0.5, -1.5 },
                    Bools = new[] { true, false },
                });
                Console.Out.Write("ready " + Process.GetCurrentProcess().Id + "\n");
                Console.Out.Flush();
                for (int i = 0; i < threads.Length; i++)
                {
                    int first = i;

                    threads[i] = new Thread(() =>
                    {
                        for (int tick = first; tick < ticks; tick += threads.Length)
                        {
                            TestSource.Log.Tick(tick);
                        }
                    });
                    threads[i].Start();
                }
                foreach (Thread thread in threads)
                {
                    thread.Join();
                }
            }
            Console.Out.Write("{\"pid\":" + Process.GetCurrentProcess().Id
                + ",\"runtime\":" + Report.Quote(Environment.Version.ToString())
                + ",\"enabled\":" + (TestSource.Log.IsEnabled() ? "true" : "false")
                + ",\"ticks\":" + ticks + ",\"filetime\":\"" + when.ToFileTimeUtc() + "\"}\n");
            Console.Out.Flush();
            return 0;
        }
    }
}
