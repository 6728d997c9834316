using System;
using System.Reflection;

namespace Tracerd.Managed
{
    /// <summary>An element that only this program has arrays of.</summary>
    internal struct Brick
    {
        public long Value;
    }

    /// <summary>A second one, for the arrays that are pinned.</summary>
    internal struct Nail
    {
        public long Value;
    }

    /// <summary>
    /// `alloc-large COUNT`: as many arrays of 2 MB for the large object heap, and, where the runtime has it (5 and later), for
    /// the pinned one.
    /// </summary>
    internal static class Large
    {
        private const int Elements = (2 << 20) / 8;

        public static void Run(Facts facts, string[] arguments)
        {
            int count = int.Parse(arguments[1]);
            MethodInfo pinned = typeof(GC).GetMethod("AllocateUninitializedArray")?.MakeGenericMethod(typeof(Nail));

            for (int i = 0; i < count; i++)
            {
                GC.KeepAlive(new Brick[Elements]);
                GC.KeepAlive(pinned?.Invoke(null, new object[] { Elements, true }));
            }
            facts.Add("large", count);
            facts.Add("pinned", pinned == null ? 0 : count);
            facts.Add("bytes", Elements * 8);
        }
    }
}
