using System;
using System.Diagnostics;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class Crowded : Exception
    {
    }

    /// <summary>
    /// Many threads, each named and each throwing some exceptions: one after the other ("sequential"), or all alive at the
    /// same time ("together"). Arguments: which, how many, exceptions of each. Prints "ready PID" once all have thrown, ends
    /// with its report after a line on standard input.
    /// </summary>
    internal static class Crowd
    {
        private static int Main(string[] arguments)
        {
            var report = new Report();
            int count = int.Parse(arguments[1]);
            int each = int.Parse(arguments[2]);
            bool together = arguments[0] == "together";
            var threads = new Thread[count];
            using var thrown = new CountdownEvent(count);
            using var leave = new ManualResetEventSlim(!together);

            for (int i = 0; i < count; i++)
            {
                string name = "crowd-" + i;

                threads[i] = new Thread(() => Be(report, name, each, thrown, leave), 256 * 1024);
                threads[i].Start();
                if (!together)
                {
                    threads[i].Join();
                }
            }
            thrown.Wait();
            Console.Out.WriteLine("ready " + Process.GetCurrentProcess().Id);
            Console.In.ReadLine();
            leave.Set();
            foreach (Thread thread in threads)
            {
                thread.Join();
            }
            report.Print();
            return 0;
        }

        private static void Be(Report report, string name, int each, CountdownEvent thrown, ManualResetEventSlim leave)
        {
            report.NameThread(name);
            for (int i = 0; i < each; i++)
            {
                try
                {
                    throw new Crowded();
                }
                catch (Crowded)
                {
                }
            }
            thrown.Signal();
            leave.Wait();
        }
    }
}
