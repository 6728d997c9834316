using System;
using System.Diagnostics;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class BothSides : Exception
    {
    }

    /// <summary>
    /// Makes children both ways: Process.Start of /bin/true, of another .NET program if its path is given, and a bare fork
    /// whose child goes on raising CLR events before it ends. Only the parent's events belong to the parent.
    /// </summary>
    internal static class Forker
    {
        private const int ChildStatus = 7;
        private const int Sigkill = 9;

        private static int Main(string[] arguments)
        {
            var report = new Report();

            report.NameThread("forker");
            Raise(3);
            Start("/bin/true", "");
            if (arguments.Length > 0)
            {
                Start(Process.GetCurrentProcess().MainModule.FileName, arguments[0]);
            }
            ForkAndRaise();
            Raise(2);
            report.Print();
            return 0;
        }

        private static void Raise(int times)
        {
            for (int i = 0; i < times; i++)
            {
                try
                {
                    throw new BothSides();
                }
                catch (BothSides)
                {
                }
            }
        }

        private static void Start(string program, string arguments)
        {
            using var child = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true });

            child.StandardOutput.ReadToEnd();
            child.WaitForExit();
            if (child.ExitCode != 0)
            {
                throw new InvalidOperationException(program + " ended with " + child.ExitCode);
            }
        }

        /// <summary>What the child needs is resolved before the fork: afterwards only one of its threads is left.</summary>
        private static void ForkAndRaise()
        {
            foreach (MethodInfo method in typeof(Native).GetMethods(BindingFlags.Public | BindingFlags.Static))
            {
                if (method.IsDefined(typeof(DllImportAttribute)))
                {
                    Marshal.Prelink(method);
                }
            }
            int child = Native.fork();

            if (child == 0)
            {
                Raise(5);
                Native._exit(ChildStatus);
            }
            Reap(child);
        }

        private static void Reap(int child)
        {
            int status = 0;
            int waited = 0;

            for (int tries = 0; waited == 0 && tries < 1000; tries++)
            {
                Thread.Sleep(10);
                waited = Native.waitpid(child, out status, 1);
            }
            if (waited == 0)
            {
                Native.kill(child, Sigkill);
                Native.waitpid(child, out status, 0);
            }
            if (status != ChildStatus << 8)
            {
                throw new InvalidOperationException("the forked child ended with status " + status);
            }
        }
    }
}
