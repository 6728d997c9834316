using System;
using System.Diagnostics;
using System.Threading;

namespace Tracerd.Managed
{
    /// <summary>
    /// Work items that all wait for each other, so that the thread pool must grow until it has a thread for each. Argument:
    /// how many.
    /// </summary>
    internal static class Pool
    {
        private static int Main(string[] arguments)
        {
            int items = int.Parse(arguments[0]);
            var gate = new ManualResetEventSlim();
            var running = new CountdownEvent(items);
            var done = new CountdownEvent(items);

            ThreadPool.SetMinThreads(2, 2);
            for (int i = 0; i < items; i++)
            {
                ThreadPool.UnsafeQueueUserWorkItem(
                    _ =>
                    {
                        running.Signal();
                        gate.Wait();
                        done.Signal();
                    },
                    null);
            }
            running.Wait();
            int threads = ThreadPool.ThreadCount;

            gate.Set();
            done.Wait();
            // The pool counts an item when it has come back from it.
            SpinWait.SpinUntil(() => ThreadPool.CompletedWorkItemCount >= items);
            Console.Out.Write("{\"pid\":" + Process.GetCurrentProcess().Id
                + ",\"runtime\":" + Report.Quote(Environment.Version.ToString())
                + ",\"items\":" + items + ",\"threads\":" + threads
                + ",\"completed\":" + ThreadPool.CompletedWorkItemCount + "}\n");
            Console.Out.Flush();
            return 0;
        }
    }
}
