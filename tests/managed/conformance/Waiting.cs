using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace System.Runtime.InteropServices
{
    /// <summary>The runtime (5 and later) goes by the name; 3.1 does not have it.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class SuppressGCTransitionAttribute : Attribute { }
}

namespace Tracerd.Managed
{
    internal sealed class Before : Exception { }

    internal sealed class After : Exception { }

    /// <summary>
    /// What a thread does that the runtime's events do not say. `blocked`: sleeps and reads in system calls whose numbers and
    /// times it notes, each inside a method of its own between two exceptions. `gc-straggler`: a thread that does not stop
    /// for collections as long as it is in a long native call, while Main collects; on 3.1 the call is a sort.
    /// </summary>
    internal static class Waiting
    {
        private const int SleepMs = 20;
        private const int Collections = 3;
        private const long SearchBytes = 1L << 30;

        private static readonly bool IsArm64 = RuntimeInformation.ProcessArchitecture == Architecture.Arm64;
        private static readonly long Nanosleep = IsArm64 ? 101 : 35;
        private static readonly long Read = IsArm64 ? 63 : 0;

        private static readonly int[] Pipe = new int[2];
        private static int busy;
        private static int stop;

        [DllImport("libc")]
        private static extern int pipe(int[] descriptors);

        [DllImport("libc")]
        private static extern IntPtr write(int descriptor, byte[] bytes, UIntPtr count);

        [DllImport("libc")]
        private static extern long syscall(long number, long[] time, IntPtr remaining);

        [DllImport("libc")]
        private static extern long syscall(long number, long descriptor, byte[] bytes, long count);

        [DllImport("libc")]
        private static extern IntPtr calloc(UIntPtr count, UIntPtr size);

        [DllImport("libc")]
        [SuppressGCTransition]
        private static extern IntPtr memchr(IntPtr bytes, int sought, UIntPtr count);

        public static void Blocked(Facts facts, string[] arguments)
        {
            long[] times = new long[4];

            Unexpected.Unless(pipe(Pipe) == 0, "no pipe");
            SleepInCall(times, 1);
            SleepInCall(times, SleepMs * 1000000);
            var writer = new Thread(() =>
            {
                Thread.Sleep(SleepMs);
                write(Pipe[1], new byte[] { 7 }, (UIntPtr)1);
            });
            writer.Start();
            ReadInCall(times);
            writer.Join();
            facts.Add("tid", Native.CurrentTid);
            facts.Add("sleep_ns", SleepMs * 1000000L);
            facts.Add("calls", new[] { (int)Nanosleep, (int)Read });
            facts.Add("from", new[] { times[0].ToString(), times[2].ToString() });
            facts.Add("to", new[] { times[1].ToString(), times[3].ToString() });
        }

        public static void Straggler(Facts facts, string[] arguments)
        {
            int tid = 0;
            bool can = Environment.Version.Major >= 5;
            IntPtr bytes = calloc((UIntPtr)1, (UIntPtr)SearchBytes);
            var straggler = new Thread(() =>
            {
                tid = Native.CurrentTid;
                while (Volatile.Read(ref stop) == 0)
                {
                    Straggle(bytes, can);
                }
            }) { Name = "straggler" };

            Unexpected.Unless(bytes != IntPtr.Zero, "no memory");
            straggler.Start();
            for (int i = 0; i < Collections; i++)
            {
                Volatile.Write(ref busy, 0);
                while (Volatile.Read(ref busy) == 0)
                {
                    Thread.Sleep(1);
                }
                GC.Collect(0, GCCollectionMode.Forced, true);
            }
            Volatile.Write(ref stop, 1);
            straggler.Join();
            facts.Add("tid", tid);
            facts.Add("main", Native.CurrentTid);
            facts.Add("collections", Collections);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Straggle(IntPtr bytes, bool can)
        {
            if (can)
            {
                Volatile.Write(ref busy, 1);
                memchr(bytes, 1, (UIntPtr)SearchBytes);
                return;
            }
            var values = new int[1 << 22];

            for (int i = 0; i < values.Length; i++)
            {
                values[i] = i * 7919 % values.Length;
            }
            Volatile.Write(ref busy, 1);
            Array.Sort(values);
        }

        /// <summary>Once before in vain: what the first call of a native function does is not the sleep.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void SleepInCall(long[] times, long ns)
        {
            var time = new long[] { 0, ns };

            try
            {
                throw new Before();
            }
            catch (Before)
            {
            }
            times[0] = Stopwatch.GetTimestamp();
            syscall(Nanosleep, time, IntPtr.Zero);
            times[1] = Stopwatch.GetTimestamp();
            try
            {
                throw new After();
            }
            catch (After)
            {
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ReadInCall(long[] times)
        {
            var bytes = new byte[1];

            try
            {
                throw new Before();
            }
            catch (Before)
            {
            }
            times[2] = Stopwatch.GetTimestamp();
            Unexpected.Unless(syscall(Read, Pipe[0], bytes, 1) == 1 && bytes[0] == 7, "read something else");
            times[3] = Stopwatch.GetTimestamp();
            try
            {
                throw new After();
            }
            catch (After)
            {
            }
        }
    }
}
