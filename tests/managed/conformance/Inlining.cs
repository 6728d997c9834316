using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;

namespace Tracerd.Managed
{
    /// <summary>A method that the JIT must ask about before it inlines another, and one that it may not inline.</summary>
    internal static class Inlining
    {
        public static void Note(Facts facts, string[] arguments)
        {
            string small = Caller(out string kept);

            if (kept != "Kept" || small != "Caller")
            {
                throw new Unexpected("the JIT inlined other things: " + small + ", " + kept);
            }
        }

        /// <summary>Compiled once and for good: tiers that do not inline are left out.</summary>
        [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
        private static string Caller(out string kept)
        {
            kept = Kept();
            return Small();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static string Kept() => new StackTrace().GetFrame(0).GetMethod().Name;

        /// <summary>Where it is inlined there is no frame of its own.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        private static string Small() => new StackTrace().GetFrame(0).GetMethod().Name;
    }
}
