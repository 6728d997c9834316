using System;
using System.Threading;

namespace Tracerd.Managed
{
    /// <summary>Main returns while background threads are in the middle of raising events.</summary>
    internal static class Leaver
    {
        private static int Main()
        {
            using var running = new CountdownEvent(4);

            for (int i = 0; i < running.InitialCount; i++)
            {
                new Thread(() => Raise(running)) { IsBackground = true }.Start();
            }
            running.Wait();
            Console.Out.Write("leaving");
            return 3;
        }

        private static void Raise(CountdownEvent running)
        {
            bool counted = false;

            while (true)
            {
                try
                {
                    throw new InvalidOperationException();
                }
                catch (InvalidOperationException)
                {
                    if (!counted)
                    {
                        counted = running.Signal() || true;
                    }
                    new Thread(() => { }) { IsBackground = true }.Start();
                }
            }
        }
    }
}
