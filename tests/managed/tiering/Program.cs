using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Tracerd.Managed
{
    /// <summary>
    /// Methods that get several bodies, and a kernel call from each of them: fsync of a descriptor that does not exist, whose
    /// number says where it was called from. What the runtime itself says of its code is in its perf map
    /// (DOTNET_PerfMapEnabled=1), which this program waits for. "ready PID", then the line "go": "done go" when all bodies are
    /// there. Each line "again" then is one more call from within the dynamic method and one from within a method of the
    /// framework, answered with "done again".
    /// </summary>
    internal static class Tiering
    {
        private const int FirstBody = 1000, LaterBody = 1001, LoopBegin = 1002, LoopEnd = 1003, InDynamic = 1004, InFramework = 1005;
        private const int Gone = 5, LoopLength = 200000;

        private static readonly string PerfMap = Path.Combine(Path.GetTempPath(), "perf-" + Process.GetCurrentProcess().Id + ".map");
        private static long sink;

        private static int Main()
        {
            var report = new Report();
            Action<int> dynamic = MakeDynamic("tiering_dynamic");

            report.NameThread("tiering-main");
            Outer(0, 1);
            dynamic(0);
            Console.Out.WriteLine("ready " + Process.GetCurrentProcess().Id);
            Console.In.ReadLine();

            Outer(FirstBody, 1);
            RunLoop();
            WaitForLaterBody();
            Outer(LaterBody, 1);
            Where(out int native, out int il);
            MakeAndDrop();
            Collect();
            Console.Out.WriteLine("done go");
            while (Console.In.ReadLine() == "again")
            {
                dynamic(InDynamic);
                new List<int> { InFramework }.ForEach(Leaf);
                Console.Out.WriteLine("done again");
            }
            GC.KeepAlive(dynamic);
            Console.Out.Write("{\"pid\":" + Process.GetCurrentProcess().Id + ",\"map\":\"" + PerfMap + "\",\"settled_ns\":" + Stopwatch.GetTimestamp() + ",\"map_size\":"
                + new FileInfo(PerfMap).Length + ",\"gone\":" + Gone + ",\"native\":" + native + ",\"il\":" + il + ",\"runtime\":\"" + Environment.Version
                + "\",\"sink\":" + sink + "}\n");
            return 0;
        }

        /// <summary>Where it stands when it asks, in its native code and in its IL, as the runtime has it.</summary>
        [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
        private static void Where(out int native, out int il)
        {
            sink++;
            var frame = new StackFrame(0, false);

            native = frame.GetNativeOffset();
            il = frame.GetILOffset();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void MakeAndDrop()
        {
            for (int i = 0; i < Gone; i++)
            {
                MakeDynamic("tiering_gone")(0);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Outer(int place, int depth)
        {
            Middle(place, depth - 1);
            sink++;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Middle(int place, int depth)
        {
            Leaf(place);
            sink += depth;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void Leaf(int place)
        {
            if (place != 0)
            {
                fsync(place);
            }
            sink++;
        }

        /// <summary>Its loop is replaced while it runs, where the runtime can do that (8 and later).</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void RunLoop()
        {
            for (int i = 0; i < LoopLength; i++)
            {
                if (i == 0)
                {
                    Leaf(LoopBegin);
                }
                if (i == LoopLength - 1)
                {
                    Leaf(LoopEnd);
                }
                sink += i;
            }
        }

        /// <summary>The runtime has written Outer down twice: the second is the one that tiering made.</summary>
        private static void WaitForLaterBody()
        {
            for (int i = 0; i < 3000 && Bodies("Tiering::Outer(") < 2; i++)
            {
                for (int k = 0; k < 100; k++)
                {
                    Outer(0, 1);
                }
                System.Threading.Thread.Sleep(10);
            }
            if (Bodies("Tiering::Outer(") < 2)
            {
                throw new InvalidOperationException("Outer was not compiled again");
            }
        }

        private static int Bodies(string name)
        {
            using (var file = new FileStream(PerfMap, FileMode.Open, FileAccess.Read, FileShare.ReadWrite))
            using (var text = new StreamReader(file))
            {
                return text.ReadToEnd().Split('\n').Count(line => line.Contains(name));
            }
        }

        private static Action<int> MakeDynamic(string name)
        {
            var dynamic = new DynamicMethod(name, typeof(void), new[] { typeof(int) }, typeof(Tiering).Module, true);
            ILGenerator code = dynamic.GetILGenerator();

            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Call, typeof(Tiering).GetMethod("Leaf", BindingFlags.NonPublic | BindingFlags.Static));
            code.Emit(OpCodes.Ldarg_0);
            code.Emit(OpCodes.Pop);
            code.Emit(OpCodes.Ret);
            return (Action<int>)dynamic.CreateDelegate(typeof(Action<int>));
        }

        private static void Collect()
        {
            for (int i = 0; i < 5; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }

        [DllImport("libc")]
        private static extern int fsync(int descriptor);
    }
}
