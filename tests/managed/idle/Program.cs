using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class AskedFor : Exception
    {
    }

    /// <summary>
    /// Does what it is told, line by line on standard input, and answers each line with "done LINE": gc, throw, thread NAME, grow
    /// COUNT (objects that live on), sleep NAME MS (a thread of that name).
    /// The first line it prints is "ready PID"; at the end of its input it prints its report.
    /// </summary>
    internal static class Idle
    {
        private static readonly List<object> Kept = new List<object>();

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
            else if (line.StartsWith("grow ", StringComparison.Ordinal))
            {
                for (int i = int.Parse(line.Substring(5)); i > 0; i--)
                {
                    Kept.Add(new object());
                }
            }
            else if (line.StartsWith("sleep ", StringComparison.Ordinal))
            {
                string[] words = line.Split(' ');
                var thread = new Thread(() =>
                {
                    report.NameThread(words[1]);
                    Thread.Sleep(int.Parse(words[2]));
                    Thread.Sleep(20); // leaves once more while it has its name: not every way back is told
                });

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
