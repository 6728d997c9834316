using System;
using System.Diagnostics;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class AskedFor : Exception
    {
    }

    /// <summary>
    /// Does what it is told, line by line on standard input, and answers each line with "done LINE": gc, throw, thread NAME.
    /// The first line it prints is "ready PID"; at the end of its input it prints its report.
    /// </summary>
    internal static class Idle
    {
        private static int Main()
        {
            var report = new Report();
            string line;

            report.NameThread("idle-main");
            Console.Out.WriteLine("ready " + Process.GetCurrentProcess().Id);
            while ((line = Console.In.ReadLine()) != null)
            {
                Obey(report, line);
                Console.Out.WriteLine("done " + line);
            }
            report.Print();
            return 0;
        }

        private static void Obey(Report report, string line)
        {
            if (line == "gc")
            {
                GC.Collect();
            }
            else if (line == "throw")
            {
                Throw();
            }
            else if (line.StartsWith("thread ", StringComparison.Ordinal))
            {
                var thread = new Thread(() => report.NameThread(line.Substring(7)));

                thread.Start();
                thread.Join();
            }
        }

        private static void Throw()
        {
            try
            {
                throw new AskedFor();
            }
            catch (AskedFor)
            {
            }
        }
    }
}
