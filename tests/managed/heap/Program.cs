using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Tracerd.Managed
{
    /// <summary>
    /// A heap of known content, collected at known moments: `steps` says of each full collection which bytes were in large
    /// arrays, and, from .NET 5 on, what the collector itself says of each generation (GC.GetGCMemoryInfo).
    /// </summary>
    internal static class Heap
    {
        private const int Large = 4 << 20;
        private static readonly List<string> Steps = new List<string>();
        private static readonly List<string> Beside = new List<string>();
        private static readonly List<object> Kept = new List<object>();

        private static int Main(string[] arguments)
        {
            int small = arguments.Length > 0 ? int.Parse(arguments[0]) : 0;

            Step("empty", 0);
            for (int i = 1; i <= 3; i++)
            {
                Kept.Add(new byte[Large]);
                Step("large", i);
            }
            Kept.Clear();
            Step("empty", 0);
            Sieve(40000);
            Step("sieve", 0);
            HoldHandles(300);
            Step("handles", 0);
            Abandon(500);
            Step("finalizers", 0);
            GC.WaitForPendingFinalizers();
            for (int i = 0; i < small; i++)
            {
                GC.Collect(0, GCCollectionMode.Forced, true);
            }
            CollectBeside(5);
            Console.Out.Write("{\"pid\":" + System.Diagnostics.Process.GetCurrentProcess().Id + ",\"large\":" + Large
                + ",\"steps\":[" + string.Join(",", Steps) + "],\"finalized\":" + Finalized.Run + ",\"beside\":[" + string.Join(",", Beside) + "],\"interactive\":"
                + (System.Runtime.GCSettings.LatencyMode == System.Runtime.GCLatencyMode.Interactive ? "true" : "false")
                + ",\"gc\":[" + GC.CollectionCount(0) + ","
                + GC.CollectionCount(1) + "," + GC.CollectionCount(2) + "]}\n");
            Console.Out.Flush();
            GC.KeepAlive(Kept);
            return 0;
        }

        /// <summary>
        /// Collections that may run beside the program: of each its number and whether it did, as the collector remembers it
        /// from .NET 5 on.
        /// </summary>
        private static void CollectBeside(int times)
        {
            MethodInfo about = typeof(GC).GetMethods().FirstOrDefault(m => m.Name == nameof(GC.GetGCMemoryInfo)
                && m.GetParameters().Length == 1);

            for (int i = 0; about != null && i < times; i++)
            {
                long before = LastFull(about, out _);
                long index;
                bool concurrent;

                GC.Collect(2, GCCollectionMode.Forced, false);
                while ((index = LastFull(about, out concurrent)) == before)
                {
                    System.Threading.Thread.Sleep(1);
                }
                Beside.Add("{\"number\":" + index + ",\"background\":" + (concurrent ? "true" : "false") + "}");
            }
        }

        /// <summary>The later of the last full blocking (2) and the last background (3) collection.</summary>
        private static long LastFull(MethodInfo about, out bool background)
        {
            long[] last = new[] { 2, 3 }.Select(kind =>
            {
                object info = about.Invoke(null, new[] { Enum.ToObject(about.GetParameters()[0].ParameterType, kind) });

                return (long)info.GetType().GetProperty("Index").GetValue(info);
            }).ToArray();

            background = last[1] > last[0];
            return Math.Max(last[0], last[1]);
        }

        /// <summary>Every other object lives, so that there is something to move.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Sieve(int count)
        {
            for (int i = 0; i < count; i++)
            {
                var piece = new byte[100];

                if (i % 2 == 0)
                {
                    Kept.Add(piece);
                }
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void HoldHandles(int count)
        {
            for (int i = 0; i < count; i++)
            {
                Kept.Add(System.Runtime.InteropServices.GCHandle.Alloc(new object()));
            }
        }

        private sealed class Finalized
        {
            public static int Run;

            ~Finalized() => System.Threading.Interlocked.Increment(ref Run);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Abandon(int count)
        {
            for (int i = 0; i < count; i++)
            {
                _ = new Finalized();
            }
        }

        private static void Step(string what, int large)
        {
            GC.Collect(2, GCCollectionMode.Forced, true, true);
            Steps.Add("{\"what\":\"" + what + "\",\"large\":" + large + ",\"collections\":" + GC.CollectionCount(0)
                + ",\"sizes\":[" + string.Join(",", Sizes()) + "],\"promoted\":" + Number("PromotedBytes")
                + ",\"pinned\":" + Number("PinnedObjectsCount") + ",\"pending\":" + Number("FinalizationPendingCount")
                + "}");
        }

        /// <summary>What the collector says of the last collection; -1 before .NET 5.</summary>
        private static long Number(string name)
        {
            object info = GC.GetGCMemoryInfo();

            return Convert.ToInt64(info.GetType().GetProperty(name)?.GetValue(info) ?? -1L);
        }

        /// <summary>SizeAfterBytes of each generation at the last collection; none before .NET 5.</summary>
        private static IEnumerable<long> Sizes()
        {
            object info = GC.GetGCMemoryInfo();
            PropertyInfo generations = info.GetType().GetProperty("GenerationInfo");

            if (generations == null)
            {
                return Enumerable.Empty<long>();
            }
            return Read(info);
        }

        /// <summary>GenerationInfo is a span, which reflection does not hand out: the data behind it is read instead.</summary>
        private static IEnumerable<long> Read(object info)
        {
            const BindingFlags Inside = BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public;
            object data = info.GetType().GetFields(Inside).Select(f => f.GetValue(info)).First(v => v != null && !(v is long));
            var sizes = new List<long>();

            for (int i = 0; i < 5; i++)
            {
                FieldInfo field = data.GetType().GetField("_generationInfo" + i, Inside);

                sizes.Add((long)field.FieldType.GetProperty("SizeAfterBytes").GetValue(field.GetValue(data)));
            }
            return sizes;
        }
    }
}
