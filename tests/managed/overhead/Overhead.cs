using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

namespace Tracerd.Managed
{
    internal sealed class Measured : Exception
    {
    }

    /// <summary>
    /// One operation many times, in CHUNKS pieces after a warm-up: exceptions N, gc N, contend N, jit N, startup N, idle SECONDS. Its
    /// only line is {"pid":…,"mode":…,"operations":N,"ns":[…],"cpu_ns":[…]}, for each piece the time of one operation by
    /// the clock and by the processor time of the thread that did it (startup: of the whole
    /// process since it began; idle: of the whole process in SECONDS). end: see End.
    /// </summary>
    internal static class Overhead
    {
        private const int Chunks = 20;
        private const int ThreadCpuClock = 3;
        private const int ProcessCpuClock = 2;

        private static readonly List<double> Wall = new List<double>();
        private static readonly List<double> Cpu = new List<double>();

        private static int Main(string[] arguments)
        {
            string mode = arguments[0];
            int count = arguments.Length > 1 ? int.Parse(arguments[1], CultureInfo.InvariantCulture) : 0;
            long done = 0;

            if (mode == "end")
            {
                return End();
            }
            switch (mode)
            {
                case "exceptions":
                    done = Measure(count, Throw);
                    break;
                case "gc":
                    done = Measure(count, times =>
                    {
                        for (int i = 0; i < times; i++)
                        {
                            GC.Collect(0);
                        }
                    });
                    break;
                case "contend":
                    done = new Quarrel().Run(count);
                    break;
                case "jit":
                    done = Compile(count);
                    break;
                case "startup":
                    done = StartUp(count);
                    break;
                case "idle":
                    done = Sleep(count);
                    break;
                default:
                    return 2;
            }
            Console.Out.WriteLine("{\"pid\":" + Process.GetCurrentProcess().Id + ",\"mode\":\"" + mode + "\",\"operations\":" + done
                + ",\"ns\":[" + Join(Wall) + "],\"cpu_ns\":[" + Join(Cpu) + "]}");
            return 0;
        }

        /// <summary>Says its pid, waits for a line, and says the time, which is the last thing it does.</summary>
        private static int End()
        {
            // What the end needs of the runtime is there by then.
            Console.Out.WriteLine("{\"pid\":" + Process.GetCurrentProcess().Id + ",\"warm_ns\":" + Now() + "}");
            Console.In.ReadLine();
            Console.Out.WriteLine("{\"end_ns\":" + Now() + "}");
            return 0;
        }

        /// <summary>CLOCK_MONOTONIC, which is what Stopwatch reads here.</summary>
        private static long Now() => (long)(Stopwatch.GetTimestamp() * (1e9 / Stopwatch.Frequency));

        private static string Join(IEnumerable<double> values) =>
            string.Join(",", values.Select(value => value.ToString("F1", CultureInfo.InvariantCulture)));

        /// <summary>A tenth to warm up, then the pieces. The number of operations, warm-up included.</summary>
        public static long Measure(int count, Action<int> operation)
        {
            int warm = Math.Max(count / 10, 1), each = Math.Max(count / Chunks, 1);

            operation(warm);
            for (int i = 0; i < Chunks; i++)
            {
                long cpu = CpuNs(ThreadCpuClock), wall = Stopwatch.GetTimestamp();

                operation(each);
                Note(wall, cpu, each, ThreadCpuClock);
            }
            return warm + (long)each * Chunks;
        }

        private static void Note(long wall, long cpu, int operations, int clock)
        {
            Wall.Add((Stopwatch.GetTimestamp() - wall) * (1e9 / Stopwatch.Frequency) / operations);
            Cpu.Add((double)(CpuNs(clock) - cpu) / operations);
        }

        private static void Throw(int times)
        {
            for (int i = 0; i < times; i++)
            {
                try
                {
                    ThrowOne();
                }
                catch (Measured)
                {
                }
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        private static void ThrowOne() => throw new Measured();

        /// <summary>Methods with a body of some loops and calls, of a type that is made now; each is compiled once.</summary>
        private static long Compile(int count)
        {
            MethodInfo[] methods = Emit(count + count / 10);
            int next = 0;

            return Measure(count, times =>
            {
                for (int i = 0; i < times && next < methods.Length; i++)
                {
                    RuntimeHelpers.PrepareMethod(methods[next++].MethodHandle);
                }
            });
        }

        private static MethodInfo[] Emit(int count)
        {
            AssemblyBuilder assembly =
                AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Emitted"), AssemblyBuilderAccess.Run);
            TypeBuilder type = assembly.DefineDynamicModule("Emitted").DefineType("Emitted.Many", TypeAttributes.Public);

            for (int i = 0; i < count; i++)
            {
                EmitBody(type.DefineMethod("Method" + i, MethodAttributes.Public | MethodAttributes.Static, typeof(int),
                    new[] { typeof(int), typeof(string) }).GetILGenerator());
            }
            return type.CreateTypeInfo().AsType().GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly);
        }

        private static void EmitBody(ILGenerator il)
        {
            Label again = il.DefineLabel();
            MethodInfo length = typeof(string).GetProperty("Length").GetGetMethod();
            LocalBuilder sum = il.DeclareLocal(typeof(int));

            il.MarkLabel(again);
            for (int i = 0; i < 4; i++)
            {
                il.Emit(OpCodes.Ldloc, sum);
                il.Emit(OpCodes.Ldarg_1);
                il.Emit(OpCodes.Callvirt, length);
                il.Emit(OpCodes.Add);
                il.Emit(OpCodes.Stloc, sum);
            }
            il.Emit(OpCodes.Ldloc, sum);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Blt, again);
            il.Emit(OpCodes.Ldloc, sum);
            il.Emit(OpCodes.Ret);
        }

        /// <summary>Ordinary things a program does first, each of them a few hundred methods of the framework.</summary>
        private static long StartUp(int times)
        {
            long sum = 0;

            for (int i = 0; i < times; i++)
            {
                var words = new SortedDictionary<string, int>(StringComparer.OrdinalIgnoreCase);

                foreach (Match match in Regex.Matches("alpha=1;beta=22;gamma=333", @"(?<name>\w+)=(?<value>\d+)"))
                {
                    words[match.Groups["name"].Value] = int.Parse(match.Groups["value"].Value, CultureInfo.InvariantCulture);
                }
                sum += words.GroupBy(pair => pair.Key.Length).OrderByDescending(group => group.Key).Sum(group => group.Count());
                sum += Task.Run(() => DateTime.UtcNow.ToString("O", CultureInfo.InvariantCulture)).Result.Length;
            }
            Cpu.Add(CpuNs(ProcessCpuClock));
            return sum;
        }

        private static long Sleep(int seconds)
        {
            Thread.Sleep(200); // what start-up leaves to do
            long cpu = CpuNs(ProcessCpuClock), wall = Stopwatch.GetTimestamp();

            Thread.Sleep(seconds * 1000);
            Note(wall, cpu, 1, ProcessCpuClock);
            return 1;
        }

        private static long CpuNs(int clock)
        {
            clock_gettime(clock, out Timespec now);
            return (long)now.Seconds * 1000000000 + (long)now.Nanoseconds;
        }

        [StructLayout(LayoutKind.Sequential)]
        private struct Timespec
        {
            public IntPtr Seconds;
            public IntPtr Nanoseconds;
        }

        [DllImport("libc")]
        private static extern int clock_gettime(int clock, out Timespec time);
    }
}
