using System.Threading;

namespace Tracerd.Managed
{
    /// <summary>
    /// Contention that happens for certain: Main lets the other thread go towards a lock that it holds until the runtime
    /// has counted one contention more. Measured is the thread that has to wait, which is where it is told.
    /// </summary>
    internal sealed class Quarrel
    {
        private readonly object prize = new object();
        private readonly AutoResetEvent go = new AutoResetEvent(false);
        private readonly AutoResetEvent done = new AutoResetEvent(false);
        private volatile bool ended;

        public long Run(int count)
        {
            long operations = 0;
            var other = new Thread(() =>
            {
                operations = Overhead.Measure(count, Want);
                ended = true;
                done.Set();
            });

            other.Start();
            while (!ended)
            {
                long before = Monitor.LockContentionCount;

                lock (prize)
                {
                    go.Set();
                    while (!ended && Monitor.LockContentionCount == before)
                    {
                        Thread.Yield();
                    }
                }
                done.WaitOne();
            }
            other.Join();
            return operations;
        }

        private void Want(int times)
        {
            for (int i = 0; i < times; i++)
            {
                go.WaitOne();
                lock (prize)
                {
                }
                done.Set();
            }
        }
    }
}
