using System;
using System.Diagnostics;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class Churned : Exception
    {
    }

    /// <summary>What is loaded again and again is this program itself, in a context that can be unloaded.</summary>
    internal sealed class Passing : AssemblyLoadContext
    {
        public Passing() : base(isCollectible: true)
        {
        }

        protected override Assembly Load(AssemblyName name) => null;
    }

    /// <summary>
    /// Everything that comes and goes, for some seconds: threads that end, exceptions, collections, assemblies that are
    /// loaded, run and unloaded. Argument: seconds. Its report counts threads and loads as "methods" entries
    /// ("threads=N", "loads=N").
    /// </summary>
    public static class Churn
    {
        private const int Pause = 5; // ms: ten minutes are meant to be survived, not to fill a disk

        private static int threads;
        private static int loads;

        private static int Main(string[] arguments)
        {
            var report = new Report();
            var clock = Stopwatch.StartNew();
            long end = long.Parse(arguments[0]) * 1000;
            var loaders = new Thread(() => Repeat(clock, end, LoadAndUnload));
            var collectors = new Thread(() => Repeat(clock, end, Collect));

            loaders.Start();
            collectors.Start();
            Repeat(clock, end, StartThreads);
            loaders.Join();
            collectors.Join();
            report.Method("threads=" + threads);
            report.Method("loads=" + loads);
            report.Print();
            return 0;
        }

        private static void Repeat(Stopwatch clock, long end, Action turn)
        {
            while (clock.ElapsedMilliseconds < end)
            {
                turn();
            }
        }

        private static void StartThreads()
        {
            var some = new Thread[4];

            for (int i = 0; i < some.Length; i++)
            {
                int number = ++threads;

                some[i] = new Thread(() => Be(number), 256 * 1024);
                some[i].Start();
            }
            foreach (Thread thread in some)
            {
                thread.Join();
            }
            Thread.Sleep(Pause);
        }

        private static void Be(int number)
        {
            Thread.CurrentThread.Name = "churn-" + number;
            for (int i = 0; i < 5; i++)
            {
                Throw(i * 3);
            }
        }

        private static void Throw(int depth)
        {
            try
            {
                Deeper(depth);
            }
            catch (Churned)
            {
            }
        }

        private static int Deeper(int depth)
        {
            if (depth == 0)
            {
                throw new Churned();
            }
            return Deeper(depth - 1) + 1;
        }

        private static void Collect()
        {
            GC.Collect(GC.CollectionCount(0) % 3);
            Thread.Sleep(Pause);
        }

        private static void LoadAndUnload()
        {
            UseOnce();
            loads++;
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Thread.Sleep(Pause);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void UseOnce()
        {
            var context = new Passing();
            Assembly again = context.LoadFromAssemblyPath(typeof(Churn).Assembly.Location);

            again.GetType("Tracerd.Managed.Churn").GetMethod("Answer").Invoke(null, null);
            context.Unload();
        }

        /// <summary>Compiled anew in every context.</summary>
        public static int Answer()
        {
            try
            {
                throw new Churned();
            }
            catch (Churned)
            {
                return 42;
            }
        }
    }
}
