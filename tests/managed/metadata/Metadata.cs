using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Text;

namespace Tracerd.Managed
{
    /// <summary>
    /// What names come from in the metadata of the assemblies given, by System.Reflection.Metadata: the text that
    /// tests/profiler/metadata_dump.c writes of them.
    /// </summary>
    internal static class Metadata
    {
        private static int Main(string[] files)
        {
            using var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false));

            foreach (string file in files)
            {
                using var image = new PEReader(File.OpenRead(file));
                MetadataReader reader = image.GetMetadataReader();

                output.Write("A " + file + "\n");
                foreach (TypeDefinitionHandle handle in reader.TypeDefinitions)
                {
                    WriteType(output, reader, handle);
                }
                foreach (MethodDefinitionHandle handle in reader.MethodDefinitions)
                {
                    MethodDefinition method = reader.GetMethodDefinition(handle);

                    output.Write("M " + MetadataTokens.GetRowNumber(method.GetDeclaringType()) + " " + reader.GetString(method.Name)
                        + Parameters(reader, method.GetGenericParameters()) + "\n");
                }
                foreach (FieldDefinitionHandle handle in reader.FieldDefinitions)
                {
                    output.Write("F " + reader.GetString(reader.GetFieldDefinition(handle).Name) + "\n");
                }
            }
            return 0;
        }

        private static void WriteType(TextWriter output, MetadataReader reader, TypeDefinitionHandle handle)
        {
            TypeDefinition type = reader.GetTypeDefinition(handle);
            TypeAttributes visibility = type.Attributes & TypeAttributes.VisibilityMask;
            bool nested = visibility != TypeAttributes.NotPublic && visibility != TypeAttributes.Public;
            bool builder = type.GetMethods().Any(method =>
                reader.StringComparer.Equals(reader.GetMethodDefinition(method).Name, "SetStateMachine"));
            string space = reader.GetString(type.Namespace);

            output.Write("T " + (nested ? MetadataTokens.GetRowNumber(type.GetDeclaringType()) : 0) + " " + (builder ? 1 : 0) + " "
                + (space.Length > 0 ? space + "." : "") + reader.GetString(type.Name)
                + Parameters(reader, type.GetGenericParameters()) + "\n");
        }

        private static string Parameters(MetadataReader reader, IEnumerable<GenericParameterHandle> handles) =>
            string.Concat(handles.Select(handle => " " + reader.GetString(reader.GetGenericParameter(handle).Name)));
    }
}
