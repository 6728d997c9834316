using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;

namespace Tracerd.Managed
{
    /// <summary>
    /// What a trace should call the methods and types that were used, told by reflection: the runtime's own word on them,
    /// with which the profiler has nothing to do.
    /// </summary>
    internal sealed class Expected
    {
        private const string Shared = "System.__Canon";

        private readonly List<string> methods = new List<string>();
        private readonly List<string> types = new List<string>();

        /// <summary>A method as it was written.</summary>
        public void Plain(MethodBase method) => Add(Names(method), RawOf(method));

        /// <summary>Async methods and iterators: their code is in a type of its own, which an attribute names.</summary>
        public void Machine(MethodInfo method, string form)
        {
            Type machine = method.GetCustomAttribute<StateMachineAttribute>().StateMachineType;

            Add(Names(method).Concat(OpenNames(method)).ToArray(), machine.FullName + ".MoveNext", form);
        }

        /// <summary>A lambda or local function inside `written`, whose body is `made`.</summary>
        public void Inside(MethodBase written, MethodInfo made, params string[] form) =>
            Add(Names(written), RawOf(made), form);

        public void Local(MethodBase written, MethodInfo made, string local, params string[] form) =>
            Add(Names(written).Select(name => name + "." + local).ToArray(), RawOf(made), form);

        public void Named(string name, string raw, params string[] form) => Add(new[] { name }, raw, form);

        public void Type(Type type) => types.Add(Report.Quote(Name(type)));

        public void Print() => Console.Out.Write("{\"pid\":" + System.Diagnostics.Process.GetCurrentProcess().Id
            + ",\"runtime\":" + Report.Quote(Environment.Version.ToString())
            + ",\"names\":[" + string.Join(",", methods) + "]"
            + ",\"types\":[" + string.Join(",", types) + "]}\n");

        /// <summary>Namespace.Outer&lt;A&gt;+Inner&lt;B&gt;, Element[,].</summary>
        public static string Name(Type type) => Name(type, type.GetGenericArguments().Select(Name).ToArray());

        private static string Name(Type type, string[] arguments)
        {
            var chain = new List<Type>();
            var name = new StringBuilder();
            int next = 0;

            if (type.IsArray)
            {
                return Name(type.GetElementType()) + "[" + new string(',', type.GetArrayRank() - 1) + "]";
            }
            if (type.IsGenericParameter)
            {
                return type.Name;
            }
            for (Type around = type; around != null; around = around.DeclaringType)
            {
                chain.Insert(0, around);
            }
            foreach (Type one in chain)
            {
                int tick = one.Name.IndexOf('`');
                int arity = tick < 0 ? 0 : int.Parse(one.Name.Substring(tick + 1));

                name.Append(one == chain[0] ? (one.Namespace == null ? "" : one.Namespace + ".") : "+");
                name.Append(tick < 0 ? one.Name : one.Name.Substring(0, tick));
                name.Append(List(arguments.Skip(next).Take(arity)));
                next += arity;
            }
            return name.ToString();
        }

        private static string List(IEnumerable<string> arguments) =>
            arguments.Any() ? "<" + string.Join(",", arguments) + ">" : "";

        /// <summary>Every class is one and the same in code that they share.</summary>
        private static string Canonical(Type type)
        {
            if (!type.IsValueType)
            {
                return type.IsGenericParameter ? type.Name : Shared;
            }
            return Name(type, type.GetGenericArguments().Select(Canonical).ToArray());
        }

        /// <summary>
        /// The ways in which a runtime may name it: where classes share the code, 10 tells that of the type's
        /// arguments, earlier ones tell none, and the parameters' own names stand there.
        /// </summary>
        private static string[] Names(MethodBase method)
        {
            Type type = method.DeclaringType;
            Type[] own = method.IsGenericMethod ? method.GetGenericArguments() : System.Type.EmptyTypes;
            string end = "." + method.Name + List(own.Select(Canonical));
            string[] canonical = type.GetGenericArguments().Select(Canonical).ToArray();
            var names = new List<string> { Name(type, canonical) + end };

            if (canonical.Concat(own.Select(Canonical)).Any(argument => argument.Contains(Shared)) && type.IsGenericType)
            {
                names.Add(Name(type.GetGenericTypeDefinition()) + end);
            }
            return names.ToArray();
        }

        /// <summary>The machine's own type has the arguments of both; where they are not told, none of them is.</summary>
        private static IEnumerable<string> OpenNames(MethodInfo method)
        {
            Type type = method.DeclaringType;
            IEnumerable<Type> all = type.GetGenericArguments().Concat(method.GetGenericArguments());

            return all.Any(argument => Canonical(argument).Contains(Shared))
                ? new[] { Name(type.GetGenericTypeDefinition()) + "." + method.Name
                    + List(method.GetGenericMethodDefinition().GetGenericArguments().Select(Name)) }
                : Array.Empty<string>();
        }

        private static string RawOf(MethodBase method)
        {
            Type type = method.DeclaringType;

            return (type.IsGenericType ? type.GetGenericTypeDefinition() : type).FullName + "." + method.Name;
        }

        private void Add(string[] names, string raw, params string[] form) =>
            methods.Add("{\"names\":[" + string.Join(",", names.Select(Report.Quote)) + "],\"raw\":" + Report.Quote(raw)
                + ",\"form\":[" + string.Join(",", form.Select(Report.Quote)) + "]}");
    }
}
