using System;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;

namespace Tracerd.Managed
{
    internal sealed class FromAContext : Exception { }

    /// <summary>What a load context runs: reached by reflection only, so that each context has its own.</summary>
    public static class Inhabitant
    {
        public static int Live(int depth)
        {
            try
            {
                return depth == 0 ? throw new FromAContext() : Live(depth - 1);
            }
            catch (FromAContext)
            {
                return 1;
            }
        }
    }

    /// <summary>
    /// `module-balance`: reports every assembly that the runtime says it has loaded. `alc-unload COUNT`: as many collectible
    /// contexts, one after the other, each with a copy of this program of its own; gone when no weak reference holds.
    /// `dataincomplete COUNT`: the same while another thread forces collections, so that what is being loaded or unloaded
    /// cannot always be asked about.
    /// </summary>
    internal static class Loading
    {
        private const int CollectionsMax = 200; // until an unloaded context is gone; a handful is usual

        public static void Balance(Facts facts, string[] arguments)
        {
            int before;
            string[] names;

            // Asking may load something itself.
            do
            {
                before = AppDomain.CurrentDomain.GetAssemblies().Length;
                names = AppDomain.CurrentDomain.GetAssemblies().Select(a => a.GetName().Name).ToArray();
            }
            while (AppDomain.CurrentDomain.GetAssemblies().Length != before);
            facts.Add("assemblies", names);
            Unexpected.Unless(names.Length > 3, "the runtime says it has loaded " + names.Length + " assemblies");
        }

        public static void Unload(Facts facts, string[] arguments)
        {
            int count = int.Parse(arguments[1]);
            int lived = 0;

            for (int i = 0; i < count; i++)
            {
                WeakReference context = LiveInContext("context " + i, ref lived);

                WaitUntilGone(context);
            }
            facts.Add("contexts", count);
            Unexpected.Unless(lived == count, lived + " of " + count + " contexts lived");
        }

        public static void Incomplete(Facts facts, string[] arguments)
        {
            int stop = 0;
            var collector = new Thread(() =>
            {
                while (Volatile.Read(ref stop) == 0)
                {
                    GC.Collect(0, GCCollectionMode.Forced, true);
                    Thread.Sleep(1);
                }
            });

            collector.Start();
            try
            {
                Unload(facts, arguments);
            }
            finally
            {
                Volatile.Write(ref stop, 1);
                collector.Join();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference LiveInContext(string name, ref int lived)
        {
            var context = new AssemblyLoadContext(name, true);
            Assembly copy = context.LoadFromAssemblyPath(typeof(Loading).Assembly.Location);
            MethodInfo live = copy.GetType(typeof(Inhabitant).FullName).GetMethod(nameof(Inhabitant.Live));

            lived += (int)live.Invoke(null, new object[] { 3 });
            context.Unload();
            return new WeakReference(context, true);
        }

        public static void WaitUntilGone(WeakReference context)
        {
            for (int i = 0; context.IsAlive; i++)
            {
                Unexpected.Unless(i < CollectionsMax, "a context is still there after " + i + " collections");
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }
    }
}
