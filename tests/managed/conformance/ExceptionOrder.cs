using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Tracerd.Managed
{
    internal class Outer : Exception { }
    internal class Inner : Exception { }
    internal class Filtered : Exception { }
    internal class Again : Exception { }

    /// <summary>
    /// Exceptions whose way is known: caught where thrown, through frames, past a filter that says no, thrown again, a second
    /// one out of a catch, and one that lives and dies in a finally on the way of another. `order` is what the program saw itself: "throw TYPE" from
    /// FirstChanceException, "catch TYPE METHOD" written by the handlers.
    /// </summary>
    internal static class ExceptionOrder
    {
        private static readonly List<string> Order = new List<string>();

        public static void Run(Facts facts, string[] arguments)
        {
            AppDomain.CurrentDomain.FirstChanceException += Note;
            CatchHere();
            CatchThroughFrames();
            CatchBehindFilter();
            CatchTwice();
            CatchFromCatch();
            CatchFromFinally();
            AppDomain.CurrentDomain.FirstChanceException -= Note;
            facts.Add("order", Order);
            Unexpected.Unless(Order.Count == 18, "the program's own order has " + Order.Count + " steps: "
                + string.Join(", ", Order));
        }

        private static void Note(object sender, System.Runtime.ExceptionServices.FirstChanceExceptionEventArgs e) =>
            Order.Add("throw " + e.Exception.GetType().FullName);

        private static void Caught(Exception e, string method) =>
            Order.Add("catch " + e.GetType().FullName + " Tracerd.Managed.ExceptionOrder." + method);

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void CatchHere()
        {
            try
            {
                throw new Outer();
            }
            catch (Outer e)
            {
                Caught(e, nameof(CatchHere));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void CatchThroughFrames()
        {
            try
            {
                ThrowFromBelow(5);
            }
            catch (Inner e)
            {
                Caught(e, nameof(CatchThroughFrames));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static int ThrowFromBelow(int depth) => depth == 0 ? throw new Inner() : 1 + ThrowFromBelow(depth - 1);

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void CatchBehindFilter()
        {
            try
            {
                PassFilter();
            }
            catch (Filtered e) when (Fits(e, true))
            {
                Caught(e, nameof(CatchBehindFilter));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void PassFilter()
        {
            try
            {
                throw new Filtered();
            }
            catch (Filtered e) when (Fits(e, false))
            {
                Caught(e, nameof(PassFilter));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static bool Fits(Exception e, bool answer) => e != null && answer;

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void CatchTwice()
        {
            try
            {
                ThrowAgain();
            }
            catch (Again e)
            {
                Caught(e, nameof(CatchTwice));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ThrowAgain()
        {
            try
            {
                throw new Again();
            }
            catch (Again e)
            {
                Caught(e, nameof(ThrowAgain));
                throw;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void CatchFromCatch()
        {
            try
            {
                ThrowOther();
            }
            catch (Inner e)
            {
                Caught(e, nameof(CatchFromCatch));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ThrowOther()
        {
            try
            {
                throw new Outer();
            }
            catch (Outer e)
            {
                Caught(e, nameof(ThrowOther));
                throw new Inner();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void CatchFromFinally()
        {
            try
            {
                ThrowInFinally();
            }
            catch (Outer e)
            {
                Caught(e, nameof(CatchFromFinally));
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ThrowInFinally()
        {
            try
            {
                throw new Outer();
            }
            finally
            {
                CatchHereInFinally();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void CatchHereInFinally()
        {
            try
            {
                throw new Inner();
            }
            catch (Inner e)
            {
                Caught(e, nameof(CatchHereInFinally));
            }
        }
    }
}
