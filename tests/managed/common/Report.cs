using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Text;
using System.Threading;

namespace Tracerd.Managed
{
    /// <summary>
    /// What a program knows about itself, printed as the last line of its output: one JSON object. It is counted by means
    /// that have nothing to do with the profiler: GC.CollectionCount, the FirstChanceException event, gettid.
    /// </summary>
    internal sealed class Report
    {
        private readonly SortedDictionary<string, int> thrown = new SortedDictionary<string, int>(StringComparer.Ordinal);
        private readonly List<string> threads = new List<string>();
        private readonly List<string> methods = new List<string>();

        public Report()
        {
            AppDomain.CurrentDomain.FirstChanceException += (_, e) => Count(e.Exception.GetType().FullName);
        }

        /// <summary>Names the calling thread and remembers which kernel thread it is.</summary>
        public void NameThread(string name)
        {
            Thread.CurrentThread.Name = name;
            lock (threads)
            {
                threads.Add("{\"name\":" + Quote(name) + ",\"tid\":" + Native.CurrentTid + "}");
            }
        }

        /// <summary>A method that the JIT is known to have compiled.</summary>
        public void Method(string name) => methods.Add(name);

        public void Print()
        {
            string[] collections = { Collections(0), Collections(1), Collections(2) };

            lock (thrown)
            lock (threads)
            {
                Console.Out.Write("{\"pid\":" + Process.GetCurrentProcess().Id
                    + ",\"runtime\":" + Quote(Environment.Version.ToString())
                    + ",\"gc\":[" + string.Join(",", collections) + "]"
                    + ",\"thrown\":{" + string.Join(",", thrown.Select(t => Quote(t.Key) + ":" + t.Value)) + "}"
                    + ",\"threads\":[" + string.Join(",", threads) + "]"
                    + ",\"methods\":[" + string.Join(",", methods.Select(Quote)) + "]}\n");
                Console.Out.Flush();
            }
        }

        private static string Collections(int generation) => GC.CollectionCount(generation).ToString();

        private void Count(string type)
        {
            lock (thrown)
            {
                thrown.TryGetValue(type, out int before);
                thrown[type] = before + 1;
            }
        }

        public static string Quote(string text)
        {
            var quoted = new StringBuilder("\"");

            foreach (char c in text)
            {
                bool plain = c >= ' ' && c < 0x7f && c != '"' && c != '\\';

                quoted.Append(plain ? c.ToString() : "\\u" + ((int)c).ToString("x4"));
            }
            return quoted.Append('"').ToString();
        }
    }
}
