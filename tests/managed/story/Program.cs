using System;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Tracerd.Managed
{
    /// <summary>A failure of this program's own type, so that no other code can throw one.</summary>
    internal sealed class PlannedFailure : Exception
    {
    }

    /// <summary>
    /// A known story: collections of each generation, exceptions of two types, named threads, a dynamic method and methods
    /// with names a timeline must show. The report at the end is what the timeline is compared with.
    /// </summary>
    internal static class Story
    {
        private static readonly string[] ThreadNames =
        {
            "worker-1",
            "worker-2",
            "a name far longer than the kernel's fifteen bytes",
            "quote \" backslash \\ tab \t",
            "\u00fcber \u4e16\u754c \U0001f600",
        };

        private static int Main()
        {
            var report = new Report();

            report.NameThread("story-main");
            Collect(report);
            Throw(report);
            StartThreads(report);
            RunDynamicMethod(report);
            report.Method("Tracerd.Managed.Story.Main");
            report.Print();
            return 0;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Collect(Report report)
        {
            report.Method("Tracerd.Managed.Story.Collect");
            for (int generation = 0; generation <= 2; generation++)
            {
                for (int i = 0; i <= generation; i++)
                {
                    GC.Collect(generation, GCCollectionMode.Forced, true);
                }
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Throw(Report report)
        {
            report.Method("Tracerd.Managed.Story.Throw");
            for (int i = 0; i < 7; i++)
            {
                try
                {
                    throw i < 4 ? (Exception)new PlannedFailure() : new InvalidOperationException("planned");
                }
                catch (Exception)
                {
                }
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void StartThreads(Report report)
        {
            report.Method("Tracerd.Managed.Story.StartThreads");
            report.Method("Tracerd.Managed.Story.Work");
            foreach (string name in ThreadNames)
            {
                var thread = new Thread(() => Work(report, name));

                thread.Start();
                thread.Join();
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Work(Report report, string name)
        {
            report.NameThread(name);
            Thread.Sleep(1);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void RunDynamicMethod(Report report)
        {
            var dynamic = new DynamicMethod("story_dynamic", typeof(int), new[] { typeof(int) });
            ILGenerator code = dynamic.GetILGenerator();

            report.Method("Tracerd.Managed.Story.RunDynamicMethod");
            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Ldc_I4_1);
            code.Emit(OpCodes.Add);
            code.Emit(OpCodes.Ret);
            if (((Func<int, int>)dynamic.CreateDelegate(typeof(Func<int, int>)))(41) != 42)
            {
                throw new InvalidOperationException("the dynamic method computes wrongly");
            }
        }
    }
}
