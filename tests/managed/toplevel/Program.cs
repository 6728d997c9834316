// Statements without a method around them, and types of this file alone: what they are called in a trace.
using System;
using System.Diagnostics;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

[MethodImpl(MethodImplOptions.NoInlining)]
static int Twice(int value) => value * 2;

static async Task<int> Later(int value)
{
    await Task.Yield();
    return value;
}

static string Raw(MethodInfo method) => method.DeclaringType.FullName + "." + method.Name;

static string RawOfMachine(MethodInfo method) =>
    method.GetCustomAttribute<StateMachineAttribute>().StateMachineType.FullName + ".MoveNext";

static string Entry(string name, string raw, string form) =>
    "{\"names\":[\"" + name + "\"],\"raw\":\"" + raw + "\",\"form\":[" + form + "]}";

await Task.Yield();
Func<int, int> lambda = value => value + 1, twice = Twice;
Func<int, Task<int>> later = Later;
int sum = lambda(1) + twice(2) + await later(3) + OfThisFile.Half(4) + Space.OfThisFile.Quarter(8) + new Nest.Inner().Third(9);
MethodInfo main = lambda.Method.DeclaringType.DeclaringType.GetMethod("<Main>$",
    BindingFlags.NonPublic | BindingFlags.Static);

if (sum != 2 + 4 + 3 + 2 + 2 + 3)
{
    throw new InvalidOperationException("the sum is " + sum);
}
Console.WriteLine("{\"pid\":" + Process.GetCurrentProcess().Id + ",\"runtime\":\"" + Environment.Version + "\",\"names\":["
    + string.Join(",",
        Entry("Program.<Main>$", RawOfMachine(main), "\"async\",\"top_level\""),
        Entry("Program.<Main>$", Raw(lambda.Method), "\"lambda\",\"top_level\""),
        Entry("Program.<Main>$.Twice", Raw(twice.Method), "\"local\",\"top_level\""),
        Entry("Program.<Main>$.Later", RawOfMachine(later.Method), "\"async\",\"local\",\"top_level\""),
        Entry("OfThisFile.Half", Raw(typeof(OfThisFile).GetMethod("Half")), ""),
        Entry("Space.OfThisFile.Quarter", Raw(typeof(Space.OfThisFile).GetMethod("Quarter")), ""),
        Entry("Nest+Inner.Third", Raw(typeof(Nest.Inner).GetMethod("Third")), "")) + "]}");

file static class OfThisFile
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Half(int value) => value / 2;
}

namespace Space
{
    file static class OfThisFile
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Quarter(int value) => value / 4;
    }
}

file class Nest
{
    public sealed class Inner
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Third(int value) => value / 3;
    }
}
