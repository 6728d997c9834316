using System;
using System.Collections.Generic;
using System.Linq;

namespace Tracerd.Managed
{
    /// <summary>
    /// What each thread entered and left, written down by the methods themselves: `>name` entered, `&lt;name` left, `!name` left
    /// by an exception, `~name` left by a tail call.
    /// </summary>
    public static class CallLog
    {
        [ThreadStatic]
        private static List<string> mine;
        private static readonly List<KeyValuePair<int, List<string>>> all = new List<KeyValuePair<int, List<string>>>();

        public static void Enter(string name) => Add(">" + name);

        public static void Leave(string name) => Add("<" + name);

        public static void Unwind(string name) => Add("!" + name);

        public static void TailCall(string name) => Add("~" + name);

        private static void Add(string line)
        {
            if (mine == null)
            {
                mine = new List<string>();
                lock (all)
                {
                    all.Add(new KeyValuePair<int, List<string>>(Native.CurrentTid, mine));
                }
            }
            mine.Add(line);
        }

        /// <summary>A JSON list of {"tid":…,"log":[…]}; all threads are done.</summary>
        public static string Json()
        {
            lock (all)
            {
                return "[" + string.Join(",", all.Select(t => "{\"tid\":" + t.Key + ",\"log\":["
                    + string.Join(",", t.Value.Select(Report.Quote)) + "]}")) + "]";
            }
        }
    }
}
