using System;
using System.Diagnostics;

namespace Tracerd.Managed
{
    internal sealed class Marble
    {
        public long A, B, C, D;
    }

    /// <summary>
    /// Allocates objects of known types and sizes, and asks the runtime how many bytes that were. Argument: megabytes,
    /// half of them small objects, a quarter arrays, a quarter large ones.
    /// </summary>
    internal static class Allocate
    {
        private const int SmallArray = 1000;
        private const int LargeArray = 200000;
        private const int MarbleSize = 48;
        private static object kept;

        private static int Main(string[] arguments)
        {
            long bytes = long.Parse(arguments[0]) * 1000000;
            long start = GC.GetAllocatedBytesForCurrentThread();

            Marbles(bytes / 2 / MarbleSize);
            long small = GC.GetAllocatedBytesForCurrentThread();

            Arrays(bytes / 4, SmallArray);
            long arrays = GC.GetAllocatedBytesForCurrentThread();

            Arrays(bytes / 4, LargeArray);
            long large = GC.GetAllocatedBytesForCurrentThread();

            Console.Out.Write("{\"pid\":" + Process.GetCurrentProcess().Id
                + ",\"runtime\":" + Report.Quote(Environment.Version.ToString())
                + ",\"tid\":" + Native.CurrentTid
                + ",\"marble_bytes\":" + (small - start) + ",\"marble_size\":" + MarbleSize
                + ",\"array_bytes\":" + (arrays - small) + ",\"large_bytes\":" + (large - arrays)
                + ",\"total_bytes\":" + GC.GetTotalAllocatedBytes(true) + "}\n");
            Console.Out.Flush();
            return 0;
        }

        private static void Marbles(long count)
        {
            for (long i = 0; i < count; i++)
            {
                kept = new Marble { A = i };
            }
        }

        private static void Arrays(long bytes, int size)
        {
            for (long left = bytes; left > 0; left -= size)
            {
                kept = new byte[size];
            }
        }
    }
}
