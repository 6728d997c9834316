using System;
using System.Runtime;

namespace Tracerd.Managed
{
    /// <summary>
    /// Collections of each generation, asked for one by one, and those that allocation brings about by itself. The first
    /// are told apart by number: 3 of generation 0, 2 of generation 1, 2 of generation 2.
    /// </summary>
    internal static class GcBalance
    {
        private const int Garbage = 400 << 20; // bytes: more than any budget of generation 0 here

        public static void Run(Facts facts, string[] arguments)
        {
            int[] asked = { 3, 2, 2 };
            int before = GC.CollectionCount(0);

            for (int generation = 0; generation < asked.Length; generation++)
            {
                for (int i = 0; i < asked[generation]; i++)
                {
                    GC.Collect(generation, GCCollectionMode.Forced, true);
                }
            }
            facts.Add("asked", asked);
            facts.Add("server", GCSettings.IsServerGC ? 1 : 0);
            facts.Add("latency", GCSettings.LatencyMode.ToString());
            Unexpected.Unless(GC.CollectionCount(0) - before >= 7, "fewer collections than were asked for");
            Litter();
            // The server's collector takes its time: its generation 0 may hold more than that.
            Unexpected.Unless(GCSettings.IsServerGC || GC.CollectionCount(0) - before > 7, "allocation caused no collection");
        }

        private static void Litter()
        {
            var kept = new object[64];

            for (int done = 0, i = 0; done < Garbage; done += 1 << 10, i++)
            {
                kept[i % kept.Length] = new byte[1 << 10];
            }
            GC.KeepAlive(kept);
        }
    }
}
