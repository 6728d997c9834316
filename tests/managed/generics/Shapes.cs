using System;
using System.Collections;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Tracerd.Managed.Shapes
{
    internal sealed class Box<T>
    {
        static Box() => Made++;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public Box(T value) => Value = value;

        public static int Made { get; [MethodImpl(MethodImplOptions.NoInlining)] set; }

        public T Value { [MethodImpl(MethodImplOptions.NoInlining)] get; [MethodImpl(MethodImplOptions.NoInlining)] set; }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public U Put<U>(U other) => other;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Box<T> operator +(Box<T> left, T right) => new Box<T>(right);

        public async Task<U> PutAsync<U>(U other)
        {
            await Task.Yield();
            return other;
        }

        public IEnumerable<U> Each<U>(U other)
        {
            yield return other;
        }

        public Func<U> Later<U>(U other) => () => other;
    }

    internal struct Pair<A, B>
    {
        public A First;
        public B Second;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public Pair<B, A> Swap() => new Pair<B, A> { First = Second, Second = First };
    }

    internal struct Triple<A, B, C>
    {
        public A First;
    }

    internal static class Outer<A>
    {
        public sealed class Middle
        {
            public sealed class Inner<B, C>
            {
                [MethodImpl(MethodImplOptions.NoInlining)]
                public D Do<D>(D value) => value;
            }
        }
    }

    internal sealed class Bag : IEnumerable<int>
    {
        IEnumerator<int> IEnumerable<int>.GetEnumerator()
        {
            yield return 1;
        }

        IEnumerator IEnumerable.GetEnumerator() => ((IEnumerable<int>)this).GetEnumerator();
    }

    internal sealed class Größe
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Fläche(int 宽) => 宽 * 2;

        public async Task<int> 测量()
        {
            await Task.Yield();
            return 1;
        }
    }

    internal static class Worker
    {
        public static async Task<int> RunAsync(int value)
        {
            await Task.Yield();
            return value;
        }

        public static IEnumerable<int> Count(int to)
        {
            for (int i = 0; i < to; i++)
            {
                yield return i;
            }
        }

        public static async IAsyncEnumerable<int> CountAsync(int to)
        {
            for (int i = 0; i < to; i++)
            {
                await Task.Yield();
                yield return i;
            }
        }

        public static Func<int, int> Lambda() => value => value + 1;

        public static Func<int, int> Closure(int by) => value => value + by;

        public static Func<int, Task<int>> LambdaAsync(int by) => async value =>
        {
            await Task.Yield();
            return value + by;
        };

        public static Func<int, int> Local(int by)
        {
            int Add(int value) => value + by;

            return Add;
        }

        public static Func<int, Task<int>> LocalAsync()
        {
            static async Task<int> AddLater(int value)
            {
                await Task.Yield();
                return value + 1;
            }

            return AddLater;
        }
    }
}
