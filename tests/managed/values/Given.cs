using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

// Everything in this namespace is traced, and writes down what it is given and returns.
namespace Tracerd.Managed.Given
{
    public enum Colour
    {
        Red,
        Green = -7,
    }

    public enum Small : byte
    {
        Largest = 255,
    }

    public enum Large : long
    {
        Least = long.MinValue,
    }

    public struct Floats
    {
        public float A;
        public float B;
    }

    public struct Mixed
    {
        public double A;
        public long B;
    }

    public struct Turned
    {
        public long A;
        public double B;
    }

    public struct Three
    {
        public float A;
        public float B;
        public float C;
    }

    public struct Big
    {
        public long A;
        public double B;
        public long C;
        public long D;
        public int E;
        public int F;
    }

    public static class Plain
    {
        public static void Nothing()
        {
            Note.Enter("Plain.Nothing");
            Note.Leave("Plain.Nothing");
        }

        public static bool Bools(bool a, bool b)
        {
            Note.Enter("Plain.Bools", "a", Note.Of(a), "b", Note.Of(b));
            return Note.Leave("Plain.Bools", a != b, Note.Of(a != b));
        }

        public static char Chars(char a, char b)
        {
            Note.Enter("Plain.Chars", "a", Note.Of(a), "b", Note.Of(b));
            return Note.Leave("Plain.Chars", b, Note.Of(b));
        }

        public static sbyte Narrow(sbyte a, byte b, short c, ushort d)
        {
            Note.Enter("Plain.Narrow", "a", Note.Of(a), "b", Note.Of(b), "c", Note.Of(c), "d", Note.Of(d));
            return Note.Leave("Plain.Narrow", (sbyte)-a, Note.Of(-a));
        }

        public static int Wide(int a, uint b, long c, ulong d)
        {
            Note.Enter("Plain.Wide", "a", Note.Of(a), "b", Note.Of(b), "c", Note.Of(c), "d", Note.Of(d));
            return Note.Leave("Plain.Wide", a - 1, Note.Of(a - 1));
        }

        public static ulong Unsigned(ulong value)
        {
            Note.Enter("Plain.Unsigned", "value", Note.Of(value));
            return Note.Leave("Plain.Unsigned", value, Note.Of(value));
        }

        public static IntPtr Natives(IntPtr a, UIntPtr b)
        {
            Note.Enter("Plain.Natives", "a", Note.Of((long)a), "b", Note.Of((ulong)b));
            return Note.Leave("Plain.Natives", a, Note.Of((long)a));
        }

        public static float Single(float a, float b)
        {
            Note.Enter("Plain.Single", "a", Note.Of(a), "b", Note.Of(b));
            return Note.Leave("Plain.Single", a * b, Note.Of(a * b));
        }

        public static double Double(double a, double b)
        {
            Note.Enter("Plain.Double", "a", Note.Of(a), "b", Note.Of(b));
            return Note.Leave("Plain.Double", a / b, Note.Of(a / b));
        }

        /// <summary>More of both kinds than there are registers, and more than are asked for first.</summary>
        public static double Many(int a, double b, long c, float d, int e, double f, byte g, double h, long i, double j,
            double k, double l, double m, string n)
        {
            double result = a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9 + j * 10 + k * 11 + l * 12 + m * 13
                + n.Length;

            Note.Enter("Plain.Many", "a", Note.Of(a), "b", Note.Of(b), "c", Note.Of(c), "d", Note.Of(d), "e", Note.Of(e),
                "f", Note.Of(f), "g", Note.Of(g), "h", Note.Of(h), "i", Note.Of(i), "j", Note.Of(j), "k", Note.Of(k),
                "l", Note.Of(l), "m", Note.Of(m), "n", Note.Of(n));
            return Note.Leave("Plain.Many", result, Note.Of(result));
        }

        public static string Strings(string a, string b)
        {
            Note.Enter("Plain.Strings", "a", Note.Of(a), "b", Note.Of(b));
            return Note.Leave("Plain.Strings", b, Note.Of(b));
        }

        /// <summary>Of a long one the first 256 characters come.</summary>
        public static string Long(string value)
        {
            string first = value.Substring(0, 256);

            Note.Enter("Plain.Long", "value", Note.Of(first));
            return Note.Leave("Plain.Long", value, Note.Of(first));
        }

        public static Colour Enums(Colour a, Small b, Large c, DayOfWeek d, Environment.SpecialFolder e)
        {
            Note.Enter("Plain.Enums", "a", Note.Of((int)a), "b", Note.Of((int)b), "c", Note.Of((long)c), "d", Note.Of((int)d),
                "e", Note.Of((int)e));
            return Note.Leave("Plain.Enums", a, Note.Of((int)a));
        }

        public static object Objects(object a, object b, int[] c, string[,] d, List<int> e, Exception f)
        {
            Note.Enter("Plain.Objects", "a", "null", "b", Note.Type("System.Int32"), "c", Note.Type("System.Int32[]"),
                "d", Note.Type("System.String[,]"), "e", Note.Type("System.Collections.Generic.List<System.Int32>"),
                "f", Note.Type("System.InvalidOperationException"));
            return Note.Leave("Plain.Objects", b, Note.Type("System.Int32"));
        }

        public static unsafe int References(ref int a, out long b, in double c, int* d)
        {
            fixed (int* pa = &a)
            fixed (long* pb = &b)
            fixed (double* pc = &c)
            {
                Note.Enter("Plain.References", "a", Note.Address(pa), "b", Note.Address(pb), "c", Note.Address(pc),
                    "d", Note.Address(d));
            }
            b = 1;
            return Note.Leave("Plain.References", a, Note.Of(a));
        }

        /// <summary>More than 48: that it was called is all that is told, and what it returns.</summary>
        public static int TooMany(int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8, int a9,
            int b0, int b1, int b2, int b3, int b4, int b5, int b6, int b7, int b8, int b9,
            int c0, int c1, int c2, int c3, int c4, int c5, int c6, int c7, int c8, int c9,
            int d0, int d1, int d2, int d3, int d4, int d5, int d6, int d7, int d8, int d9,
            int e0, int e1, int e2, int e3, int e4, int e5, int e6, int e7, int e8, int e9)
        {
            Note.Enter("Plain.TooMany", null);
            Note.Leave("Plain.TooMany");
            return e9;
        }

        public static void Failing(string why)
        {
            Note.Enter("Plain.Failing", "why", Note.Of(why));
            Note.Unwind("Plain.Failing");
            throw new InvalidOperationException(why);
        }
    }

    public static class Structs
    {
        public static Floats Floats(Floats value)
        {
            Note.Enter("Structs.Floats", "value", Note.Bytes(ref value));
            return Note.Leave("Structs.Floats", value, Note.Bytes(ref value));
        }

        public static Mixed Mixed(int before, Mixed value, Turned turned, int behind)
        {
            Note.Enter("Structs.Mixed", "before", Note.Of(before), "value", Note.Bytes(ref value), "turned", Note.Bytes(ref turned),
                "behind", Note.Of(behind));
            return Note.Leave("Structs.Mixed", value, Note.Bytes(ref value));
        }

        public static Turned Made(long a, double b)
        {
            var value = new Turned { A = a, B = b };

            Note.Enter("Structs.Made", "a", Note.Of(a), "b", Note.Of(b));
            return Note.Leave("Structs.Made", value, Note.Bytes(ref value));
        }

        public static Turned Turned(Turned value)
        {
            Note.Enter("Structs.Turned", "value", Note.Bytes(ref value));
            return Note.Leave("Structs.Turned", value, Note.Bytes(ref value));
        }

        public static Three Three(Three value)
        {
            Note.Enter("Structs.Three", "value", Note.Bytes(ref value));
            return Note.Leave("Structs.Three", value, Note.Bytes(ref value));
        }

        public static Big Big(Big value, double behind)
        {
            Note.Enter("Structs.Big", "value", Note.Bytes(ref value), "behind", Note.Of(behind));
            return Note.Leave("Structs.Big", value, Note.Bytes(ref value));
        }

        public static decimal Decimal(decimal a, Guid b, DateTime c)
        {
            Note.Enter("Structs.Decimal", "a", Note.Bytes(ref a), "b", Note.Bytes(ref b), "c", Note.Bytes(ref c));
            return Note.Leave("Structs.Decimal", a, Note.Bytes(ref a));
        }
    }

    public class Holder
    {
        public int Number;

        public int Add(int more)
        {
            Note.Enter("Holder.Add", "this", Note.Type("Tracerd.Managed.Given.Derived"), "more", Note.Of(more));
            return Note.Leave("Holder.Add", Number + more, Note.Of(Number + more));
        }
    }

    public sealed class Derived : Holder
    {
    }

    public struct Counter
    {
        public long Number;

        public unsafe long Add(long more)
        {
            fixed (long* own = &Number)
            {
                Note.Enter("Counter.Add", "this", Note.Address(own), "more", Note.Of(more));
            }
            return Note.Leave("Counter.Add", Number += more, Note.Of(Number));
        }
    }

    public class Box<T>
    {
        private T value;

        /// <summary>`given` and `before`: how T's values are written.</summary>
        public T Swap(T next, string self, string given, string before)
        {
            T old = value;

            Note.Enter("Box.Swap", "this", Note.Type("Tracerd.Managed.Given.Box<" + self + ">"), "next", given,
                "self", Note.Of(self), "given", Note.Of(given), "before", Note.Of(before));
            value = next;
            return Note.Leave("Box.Swap", old, before);
        }
    }

    public static class Generic
    {
        public static T Same<T>(T value, string text)
        {
            Note.Enter("Generic.Same", "value", text, "text", Note.Of(text));
            return Note.Leave("Generic.Same", value, text);
        }
    }
}
