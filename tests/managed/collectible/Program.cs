using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

namespace Tracerd.Managed
{
    /// <summary>
    /// Seven classes that come with a collectible context and go with it, ROUNDS times; then as many assemblies made at run
    /// time, each with a method and an exception of a name that no other has, and as many dynamic methods, so that an id that
    /// comes again shows.
    /// </summary>
    internal static class Program
    {
        private const int CollectionsMax = 200;

        private static readonly SortedSet<string> classes = new SortedSet<string>();

        private static int Main(string[] arguments)
        {
            int rounds = int.Parse(arguments[0]);
            var emitted = new List<string>();
            int gone = 0;

            for (int i = 0; i < rounds; i++)
            {
                gone += IsGone(LoadContext(i % 2 == 1)) ? 1 : 0;
            }
            for (int i = 0; i < rounds; i++)
            {
                string name = "Round" + i;

                gone += IsGone(Emit(name)) ? 1 : 0;
                emitted.Add(name);
            }
            for (int i = 0; i < rounds; i++)
            {
                RunDynamicMethod("dynamic " + i);
                Collect();
            }
            Console.Out.Write("{\"pid\":" + System.Diagnostics.Process.GetCurrentProcess().Id
                + ",\"runtime\":" + Report.Quote(Environment.Version.ToString()) + ",\"rounds\":" + rounds + ",\"gone\":" + gone
                + ",\"classes\":[" + string.Join(",", classes.Select(Report.Quote))
                + "],\"emitted\":[" + string.Join(",", emitted.Select(Report.Quote)) + "]}\n");
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference LoadContext(bool fromBytes)
        {
            var context = new AssemblyLoadContext("plug-in", true);
            string path = typeof(Program).Assembly.Location;
            Assembly copy = fromBytes ? context.LoadFromStream(new MemoryStream(File.ReadAllBytes(path)))
                : context.LoadFromAssemblyPath(path);

            foreach (Type type in copy.GetTypes().Where(type => type.Namespace == "Tracerd.Managed.Plugin"))
            {
                classes.Add(Activator.CreateInstance(type).ToString());
            }
            context.Unload();
            return new WeakReference(context);
        }

        private static bool IsGone(WeakReference reference)
        {
            for (int i = 0; i < CollectionsMax && reference.IsAlive; i++)
            {
                Collect();
            }
            /* The runtime lets go of the native half one finalizer and one collection later. */
            Collect();
            Collect();
            return !reference.IsAlive;
        }

        private static void Collect()
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        /// <summary>The runtime uses what it had for one that is gone again.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void RunDynamicMethod(string name)
        {
            var method = new DynamicMethod(name, null, Type.EmptyTypes);

            method.GetILGenerator().Emit(OpCodes.Ret);
            ((Action)method.CreateDelegate(typeof(Action)))();
        }

        /// <summary>An assembly NAME with NAME.Thrower.Run, which throws and catches NAME.Failure.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static WeakReference Emit(string name)
        {
            ModuleBuilder module = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName(name),
                AssemblyBuilderAccess.RunAndCollect).DefineDynamicModule(name);
            TypeBuilder failure = module.DefineType(name + ".Failure", TypeAttributes.Public, typeof(Exception));
            ConstructorBuilder constructor = failure.DefineDefaultConstructor(MethodAttributes.Public);
            TypeBuilder thrower = module.DefineType(name + ".Thrower", TypeAttributes.Public);
            ILGenerator code = thrower.DefineMethod("Run", MethodAttributes.Public | MethodAttributes.Static, null,
                Type.EmptyTypes).GetILGenerator();
            Type created;

            code.BeginExceptionBlock();
            code.Emit(OpCodes.Newobj, constructor);
            code.Emit(OpCodes.Throw);
            code.BeginCatchBlock(typeof(Exception));
            code.Emit(OpCodes.Pop);
            code.EndExceptionBlock();
            code.Emit(OpCodes.Ret);
            failure.CreateType();
            created = thrower.CreateType();
            created.GetMethod("Run").Invoke(null, null);
            return new WeakReference(created);
        }
    }
}

namespace Tracerd.Managed.Plugin
{
    internal class First
    {
        public override string ToString() => GetType().FullName;
    }

    internal sealed class Second : First
    {
    }

    internal sealed class Third : First
    {
    }

    internal sealed class Fourth : First
    {
    }

    internal sealed class Fifth : First
    {
    }

    internal sealed class Sixth : First
    {
    }

    internal sealed class Seventh : First
    {
    }
}
