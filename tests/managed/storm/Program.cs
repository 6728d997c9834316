using System;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class Gust : Exception
    {
    }

    /// <summary>Threads that throw as fast as they can while Main collects. Arguments: threads, exceptions of each at least.</summary>
    internal static class Storm
    {
        private static volatile bool collected;

        private static int Main(string[] arguments)
        {
            var report = new Report();
            int each = int.Parse(arguments[1]);
            var threads = new Thread[int.Parse(arguments[0])];

            for (int i = 0; i < threads.Length; i++)
            {
                string name = "storm-" + i;

                threads[i] = new Thread(() => Blow(report, name, each));
                threads[i].Start();
            }
            for (int i = 0; i < 20; i++)
            {
                GC.Collect(i % 2);
                Thread.Sleep(1);
            }
            collected = true;
            foreach (Thread thread in threads)
            {
                thread.Join();
            }
            report.Print();
            return 0;
        }

        private static void Blow(Report report, string name, int times)
        {
            report.NameThread(name);
            for (int i = 0; i < times || !collected; i++)
            {
                try
                {
                    throw new Gust();
                }
                catch (Gust)
                {
                }
            }
        }
    }
}
