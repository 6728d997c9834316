using System;
using System.IO;
using System.Text;

namespace Tracerd.Managed
{
    internal class Turn0 : Exception { }
    internal class Turn1 : Exception { }
    internal class Turn2 : Exception { }
    internal class Turn3 : Exception { }
    internal class Turn4 : Exception { }
    internal class Turn5 : Exception { }
    internal class Turn6 : Exception { }

    /// <summary>
    /// Speaks to both halves in turn, from one thread: line i to the kernel's trace_marker, then an exception of type
    /// Turn(i modulo 7). A timeline that is in order shows marker and exception alternating, with equal numbers.
    /// Arguments: the trace_marker file, how many turns.
    /// </summary>
    internal static class Alternate
    {
        private static int Main(string[] arguments)
        {
            var report = new Report();
            int turns = int.Parse(arguments[1]);

            report.NameThread("alternate");
            // No buffer: one write of a line is one record in the kernel's ring.
            using (var marker = new FileStream(arguments[0], FileMode.Open, FileAccess.Write, FileShare.ReadWrite, 1))
            {
                for (int i = 0; i < turns; i++)
                {
                    byte[] line = Encoding.ASCII.GetBytes("turn " + i + "\n");

                    marker.Write(line, 0, line.Length);
                    marker.Flush();
                    Raise(i % 7);
                }
            }
            report.Print();
            return 0;
        }

        private static void Raise(int number)
        {
            try
            {
                throw Make(number);
            }
            catch (Exception)
            {
            }
        }

        private static Exception Make(int number)
        {
            switch (number)
            {
                case 0: return new Turn0();
                case 1: return new Turn1();
                case 2: return new Turn2();
                case 3: return new Turn3();
                case 4: return new Turn4();
                case 5: return new Turn5();
                default: return new Turn6();
            }
        }
    }
}
