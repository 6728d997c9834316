using System;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Tracerd.Managed
{
    /// <summary>What each method was given and returned, written down by the method itself, as JSON.</summary>
    internal static class Note
    {
        private static readonly List<string> lines = new List<string>();

        public static string Json => "[" + string.Join(",", lines) + "]";

        /// <summary>`arguments`: name and value in turns; null: they are not told.</summary>
        public static void Enter(string method, params string[] arguments)
        {
            var text = new StringBuilder();

            for (int i = 0; arguments != null && i < arguments.Length; i += 2)
            {
                text.Append(i > 0 ? "," : "").Append(Report.Quote(arguments[i])).Append(':').Append(arguments[i + 1]);
            }
            Add(">" + method, arguments == null ? null : "{" + text + "}");
        }

        public static T Leave<T>(string method, T result, string value)
        {
            Add("<" + method, value);
            return result;
        }

        public static void Leave(string method) => Add("<" + method, null);

        public static void Unwind(string method) => Add("!" + method, null);

        public static string Of(bool value) => value ? "true" : "false";

        public static string Of(int value) => value.ToString(CultureInfo.InvariantCulture);

        public static string Of(uint value) => value.ToString(CultureInfo.InvariantCulture);

        public static string Of(long value) => "\"" + value.ToString(CultureInfo.InvariantCulture) + "\"";

        public static string Of(ulong value) => "\"" + value.ToString(CultureInfo.InvariantCulture) + "\"";

        public static string Of(float value) => Special(value) ?? value.ToString("R", CultureInfo.InvariantCulture);

        public static string Of(double value) => Special(value) ?? value.ToString("R", CultureInfo.InvariantCulture);

        public static string Of(string value) => value == null ? "null" : Text(value);

        public static string Of(char value) => Text(value.ToString());

        public static string Type(string name) => "{\"type\":" + Report.Quote(name) + "}";

        public static unsafe string Address(void* address) => "\"0x" + ((ulong)address).ToString("x") + "\"";

        /// <summary>The bytes of a struct; those between its fields are whatever they are.</summary>
        public static string Bytes<T>(ref T value) where T : struct
        {
            var text = new StringBuilder();

            foreach (byte one in MemoryMarshal.AsBytes(MemoryMarshal.CreateSpan(ref value, 1)))
            {
                text.Append(one.ToString("x2"));
            }
            return "\"" + text + "\"";
        }

        /// <summary>A lone surrogate comes as the three bytes that its number would take, each a character U+F7NN.</summary>
        private static string Text(string value)
        {
            var text = new StringBuilder();

            for (int i = 0; i < value.Length; i++)
            {
                if (char.IsSurrogatePair(value, i))
                {
                    text.Append(value, i++, 2);
                }
                else if (char.IsSurrogate(value[i]))
                {
                    text.Append("\uf7ed").Append((char)(0xf780 | (value[i] >> 6 & 0x3f))).Append((char)(0xf780 | (value[i] & 0x3f)));
                }
                else
                {
                    text.Append(value[i]);
                }
            }
            return Report.Quote(text.ToString());
        }

        private static string Special(double value) =>
            double.IsNaN(value) ? "\"NaN\"" : double.IsPositiveInfinity(value) ? "\"Infinity\""
                : double.IsNegativeInfinity(value) ? "\"-Infinity\"" : null;

        private static void Add(string what, string value) =>
            lines.Add("[" + Report.Quote(what) + "," + (value ?? "\"nothing\"") + "]");
    }
}
