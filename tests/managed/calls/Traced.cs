using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading.Tasks;

// Everything in this namespace is traced, and writes down what it does.
namespace Tracerd.Managed.Traced
{
    public struct Pair
    {
        public long First;
        public double Second;
    }

    public static class Plain
    {
        public static int Fibonacci(int n)
        {
            CallLog.Enter("Plain.Fibonacci");
            int result = n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2);
            CallLog.Leave("Plain.Fibonacci");
            return result;
        }

        /// <summary>More arguments than there are registers, of both kinds.</summary>
        public static double Many(int a, double b, long c, float d, int e, double f, byte g, double h, long i, double j,
            double k, double l, double m, string n)
        {
            CallLog.Enter("Plain.Many");
            double result = a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9 + j * 10 + k * 11 + l * 12 + m * 13
                + n.Length;
            CallLog.Leave("Plain.Many");
            return result;
        }

        public static Pair Both(long first, double second)
        {
            CallLog.Enter("Plain.Both");
            var pair = new Pair { First = first, Second = second };
            CallLog.Leave("Plain.Both");
            return pair;
        }

        public static decimal Large(decimal value)
        {
            CallLog.Enter("Plain.Large");
            value += 1;
            CallLog.Leave("Plain.Large");
            return value;
        }

        public static void Timed()
        {
            CallLog.Enter("Plain.Timed");
            CallLog.Leave("Plain.Timed");
        }

        /// <summary>So small that it would be inlined.</summary>
        public static void Small()
        {
            CallLog.Enter("Plain.Small");
            CallLog.Leave("Plain.Small");
        }

        /// <summary>Long enough for its code to be replaced while it runs.</summary>
        public static long Loop(int turns)
        {
            long sum = 0;

            CallLog.Enter("Plain.Loop");
            for (int i = 0; i < turns; i++)
            {
                sum += i % 7;
                if (i % 20000 == 0)
                {
                    Small();
                }
            }
            CallLog.Leave("Plain.Loop");
            return sum;
        }
    }

    public static class Failing
    {
        public static void Throw()
        {
            CallLog.Enter("Failing.Throw");
            CallLog.Unwind("Failing.Throw");
            throw new InvalidOperationException();
        }

        public static void Through(int depth)
        {
            CallLog.Enter("Failing.Through");
            try
            {
                if (depth > 0)
                {
                    Through(depth - 1);
                }
                Throw();
            }
            finally
            {
                Plain.Small();
                CallLog.Unwind("Failing.Through");
            }
        }

        public static void Catch(int depth)
        {
            CallLog.Enter("Failing.Catch");
            try
            {
                Through(depth);
            }
            catch (InvalidOperationException)
            {
                Plain.Small();
            }
            CallLog.Leave("Failing.Catch");
        }

        /// <summary>Its finally block catches an exception of its own while another one is under way.</summary>
        public static void CatchInFinally()
        {
            CallLog.Enter("Failing.CatchInFinally");
            try
            {
                Throw();
            }
            finally
            {
                Catch(1);
                CallLog.Unwind("Failing.CatchInFinally");
            }
        }

        /// <summary>Its finally block replaces the exception by another one.</summary>
        public static void Replace()
        {
            CallLog.Enter("Failing.Replace");
            try
            {
                Throw();
            }
            finally
            {
                ThrowOther();
            }
        }

        public static void ThrowOther()
        {
            CallLog.Enter("Failing.ThrowOther");
            CallLog.Unwind("Failing.ThrowOther");
            CallLog.Unwind("Failing.Replace");
            throw new ArgumentException();
        }

        public static void Rethrow()
        {
            CallLog.Enter("Failing.Rethrow");
            try
            {
                Throw();
            }
            catch (InvalidOperationException)
            {
                CallLog.Unwind("Failing.Rethrow");
                throw;
            }
        }

        public static bool Filter(bool answer)
        {
            CallLog.Enter("Failing.Filter");
            CallLog.Leave("Failing.Filter");
            return answer;
        }

        public static void Filtered()
        {
            CallLog.Enter("Failing.Filtered");
            try
            {
                ThrowLate();
            }
            catch (InvalidOperationException) when (Filter(false))
            {
            }
            catch (InvalidOperationException) when (Filter(true))
            {
                CallLog.Unwind("Failing.ThrowLate");
            }
            CallLog.Leave("Failing.Filtered");
        }

        /// <summary>Filters run before it is unwound, so whoever catches writes that down.</summary>
        public static void ThrowLate()
        {
            CallLog.Enter("Failing.ThrowLate");
            throw new InvalidOperationException();
        }
    }

    public class Box<T>
    {
        public Box()
        {
            CallLog.Enter("Box..ctor");
            CallLog.Leave("Box..ctor");
        }

        public T Put<TOther>(T value, TOther other)
        {
            CallLog.Enter("Box.Put");
            Keep(value);
            CallLog.Leave("Box.Put");
            return value;
        }

        public virtual void Keep(T value)
        {
            CallLog.Enter("Box.Keep");
            CallLog.Leave("Box.Keep");
        }
    }

    public static class Outside
    {
        public delegate int Comparison(IntPtr left, IntPtr right);

        [DllImport("libc")]
        public static extern void qsort(int[] array, IntPtr count, IntPtr size, Comparison comparison);

        [DllImport("libc")]
        public static extern int abs(int value);

        public static int Compare(IntPtr left, IntPtr right)
        {
            CallLog.Enter("Outside.Compare");
            int order = Marshal.ReadInt32(left).CompareTo(Marshal.ReadInt32(right));
            CallLog.Leave("Outside.Compare");
            return order;
        }
    }

    public static class Later
    {
        /// <summary>The segments between awaits; whoever calls writes down the call itself.</summary>
        public static async Task<int> Run(int turns)
        {
            int sum = 0;

            CallLog.Enter("Later.Run");
            for (int i = 0; i < turns; i++)
            {
                Plain.Small();
                CallLog.Leave("Later.Run");
                await Task.Yield();
                CallLog.Enter("Later.Run");
                sum += i;
            }
            CallLog.Leave("Later.Run");
            return sum;
        }

        public static async Task<int> Fail()
        {
            CallLog.Enter("Later.Fail");
            try
            {
                Failing.Throw();
            }
            finally
            {
                // The compiler's own catch block keeps it for the task.
                CallLog.Leave("Later.Fail");
            }
            return await Run(1);
        }
    }
}
