using System;
using System.Diagnostics;
using System.IO;
using System.IO.MemoryMappedFiles;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class Counted : Exception
    {
    }

    internal sealed class Fatal : Exception
    {
    }

    /// <summary>
    /// Threads that throw and catch, each counting in shared memory what it has caught, until the process dies a violent
    /// death. What is counted outlives it, so that nobody has to trust its last words. Arguments: the file to count in,
    /// threads, and how it ends: wait (to be killed), failfast, overflow, unhandled. Prints "ready PID".
    /// </summary>
    internal static class Crasher
    {
        private const int CounterSize = 64;
        private const int Before = 200;

        private static int Main(string[] arguments)
        {
            int threads = int.Parse(arguments[1]);
            using var file = MemoryMappedFile.CreateFromFile(arguments[0], FileMode.Create, null, threads * CounterSize);
            using MemoryMappedViewAccessor counters = file.CreateViewAccessor();

            for (int i = 0; i < threads; i++)
            {
                int offset = i * CounterSize;

                new Thread(() => ThrowForever(counters, offset)) { IsBackground = true }.Start();
            }
            while (counters.ReadInt64(0) < Before)
            {
                Thread.Sleep(1);
            }
            Console.Out.WriteLine("ready " + Process.GetCurrentProcess().Id);
            End(arguments[2]);
            return 1;
        }

        private static void ThrowForever(MemoryMappedViewAccessor counters, int offset)
        {
            for (long caught = 1; ; caught++)
            {
                try
                {
                    throw new Counted();
                }
                catch (Counted)
                {
                }
                counters.Write(offset, caught);
            }
        }

        private static void End(string how)
        {
            switch (how)
            {
                case "wait":
                    Thread.Sleep(Timeout.Infinite);
                    break;
                case "failfast":
                    Environment.FailFast("asked for");
                    break;
                case "overflow":
                    Overflow(0);
                    break;
                case "unhandled":
                    throw new Fatal();
            }
        }

        private static int Overflow(int depth) => Overflow(depth + 1) + depth;
    }
}
