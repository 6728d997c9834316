using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

namespace Tracerd.Managed
{
    /// <summary>
    /// `class-balance COUNT`: seven classes that only collectible contexts have, each with its copy of the program, COUNT
    /// contexts one after the other. Nobody names the classes but by text, so that the program itself never loads them.
    /// </summary>
    internal static class Family
    {
        private static readonly string[] Members =
            { "Ancestor", "Son", "Daughter", "Child`1", "Orphan", "Orphan+Guardian", "IRelative" };

        public static void Balance(Facts facts, string[] arguments)
        {
            int count = int.Parse(arguments[1]);

            for (int i = 0; i < count; i++)
            {
                Loading.WaitUntilGone(LiveInContext("family " + i));
            }
            // The runtime lets go of the native half one finalizer and one collection later.
            for (int i = 0; i < 2; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            facts.Add("contexts", count);
            facts.Add("classes", Members);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference LiveInContext(string name)
        {
            var context = new AssemblyLoadContext(name, true);
            Assembly copy = context.LoadFromAssemblyPath(typeof(Family).Assembly.Location);

            foreach (string member in Members)
            {
                Type type = copy.GetType("Tracerd.Managed.Relatives." + member, true);

                // A class is loaded with its arguments; what has none yet is none.
                if (!type.IsInterface)
                {
                    Activator.CreateInstance(type.IsGenericTypeDefinition ? type.MakeGenericType(typeof(int)) : type);
                }
            }
            context.Unload();
            return new WeakReference(context, true);
        }
    }
}

namespace Tracerd.Managed.Relatives
{
    internal interface IRelative
    {
    }

    internal class Ancestor : IRelative
    {
    }

    internal class Son : Ancestor
    {
    }

    internal class Daughter : Ancestor
    {
    }

    internal class Child<T> : Ancestor
    {
    }

    internal class Orphan
    {
        internal class Guardian
        {
        }
    }
}
