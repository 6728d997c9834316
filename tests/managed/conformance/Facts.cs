using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;

namespace Tracerd.Managed
{
    /// <summary>
    /// What the program counted by its own means, in the order it was told; printed as the last line of its output. Always
    /// there: pid, runtime, gc_before and gc (collections of each generation before the row began and when it had ended),
    /// thrown (exceptions of each type since the row began).
    /// </summary>
    internal sealed class Facts
    {
        private readonly List<string> members = new List<string>();
        private readonly SortedDictionary<string, int> thrown = new SortedDictionary<string, int>(StringComparer.Ordinal);

        public void Begin()
        {
            Add("pid", Process.GetCurrentProcess().Id);
            Add("runtime", Environment.Version.ToString());
            Add("gc_before", Collections());
            AppDomain.CurrentDomain.FirstChanceException += (_, e) => Count(e.Exception.GetType().FullName);
        }

        public void End()
        {
            Add("gc", Collections());
            lock (thrown)
            {
                AddRaw("thrown", "{" + string.Join(",", thrown.Select(t => Report.Quote(t.Key) + ":" + t.Value)) + "}");
            }
        }

        public void Add(string key, long value) => AddRaw(key, value.ToString());

        public void Add(string key, string text) => AddRaw(key, Report.Quote(text));

        public void Add(string key, IEnumerable<int> values) => AddRaw(key, "[" + string.Join(",", values) + "]");

        public void Add(string key, IEnumerable<string> texts) =>
            AddRaw(key, "[" + string.Join(",", texts.Select(Report.Quote)) + "]");

        public void Print()
        {
            Console.Out.Write("{" + string.Join(",", members) + "}\n");
            Console.Out.Flush();
        }

        private static int[] Collections() =>
            new[] { GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2) };

        private void AddRaw(string key, string value)
        {
            lock (members)
            {
                members.Add(Report.Quote(key) + ":" + value);
            }
        }

        private void Count(string type)
        {
            lock (thrown)
            {
                thrown.TryGetValue(type, out int before);
                thrown[type] = before + 1;
            }
        }
    }
}
