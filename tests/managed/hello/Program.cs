using System;
using System.IO;

namespace Tracerd.Managed
{
    /// <summary>Always the same bytes on both outputs, text or not; ends with the status it is given.</summary>
    internal static class Hello
    {
        private static int Main(string[] arguments)
        {
            using Stream output = Console.OpenStandardOutput();
            byte[] everyByte = new byte[256];

            for (int i = 0; i < everyByte.Length; i++)
            {
                everyByte[i] = (byte)i;
            }
            output.Write(everyByte, 0, everyByte.Length);
            output.Flush();
            Console.Out.Write("hello, world");
            Console.Error.Write("no line end on standard error");
            return arguments.Length > 0 ? int.Parse(arguments[0]) : 0;
        }
    }
}
