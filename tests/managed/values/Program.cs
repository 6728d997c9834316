using System;
using System.Collections.Generic;
using System.Diagnostics;
using Tracerd.Managed.Given;

namespace Tracerd.Managed
{
    /// <summary>Calls with arguments and results of every type, which the methods write down themselves.</summary>
    internal static class Values
    {
        private static int wrong;

        private static int Main()
        {
            CallPlain();
            CallStructs();
            CallMembers();
            Console.Out.Write("{\"pid\":" + Process.GetCurrentProcess().Id + ",\"wrong\":" + wrong + ",\"values\":" + Note.Json + "}\n");
            Console.Out.Flush();
            return 0;
        }

        private static void Check(bool right) => wrong += right ? 0 : 1;

        private static unsafe void CallPlain()
        {
            int number = 41;

            Plain.Nothing();
            Check(Plain.Bools(true, false));
            Plain.Chars('a', '"');
            Plain.Chars('\u20ac', '\ud800');
            Check(Plain.Narrow(-128 + 1, 255, -32768, 65535) == 127);
            Check(Plain.Wide(int.MinValue + 1, uint.MaxValue, long.MinValue, ulong.MaxValue) == int.MinValue);
            Check(Plain.Unsigned(ulong.MaxValue) == ulong.MaxValue);
            Plain.Natives((IntPtr)(-5), (UIntPtr)0xfffffffffffffff0);
            Check(Plain.Single(1.1f, -3e-38f) == 1.1f * -3e-38f);
            Plain.Single(float.MaxValue, 10);
            Check(Plain.Double(0.1, 3) == 0.1 / 3);
            Plain.Double(0, 0);
            Plain.Double(-1, 0);
            Check(Plain.Many(1, 2.5, 3, 4.25f, 5, 6.125, 7, 8.5, 9, 10.25, 11.5, 12.75, 13.5, "fourteen") == 857.25);
            Plain.Strings("", null);
            Plain.Strings("a \"quoted\" \\ one,\n\t\u0001\u007f\0 and more", "na\u00efve \u4e2d\u6587 \ud83d\ude00 \udc00");
            Plain.Long(new string('x', 255) + "yz");
            Plain.Enums(Colour.Green, Small.Largest, Large.Least, DayOfWeek.Saturday, Environment.SpecialFolder.System);
            Plain.Objects(null, 5, new int[2], new string[1, 2], new List<int>(), new InvalidOperationException());
            Check(Plain.References(ref number, out long other, 2.5, &number) == 41 && other == 1);
            Check(Plain.TooMany(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 59) == 59);
            try
            {
                Plain.Failing("planned");
            }
            catch (InvalidOperationException)
            {
            }
        }

        private static void CallStructs()
        {
            var floats = Structs.Floats(new Floats { A = 1.5f, B = -2.5f });
            var mixed = Structs.Mixed(7, new Mixed { A = 0.1, B = -1 }, new Turned { A = 3, B = 1e300 }, 8);
            var made = Structs.Made(-2, 2.5);
            var turned = Structs.Turned(new Turned { A = long.MaxValue, B = -0.5 });
            var three = Structs.Three(new Three { A = 1, B = 2, C = 3 });
            var big = Structs.Big(new Big { A = 1, B = 2, C = 3, D = 4, E = 5, F = 6 }, 7.5);

            Check(floats.A == 1.5f && floats.B == -2.5f);
            Check(mixed.A == 0.1 && mixed.B == -1);
            Check(made.A == -2 && made.B == 2.5);
            Check(turned.A == long.MaxValue && turned.B == -0.5);
            Check(three.A == 1 && three.B == 2 && three.C == 3);
            Check(big.A == 1 && big.F == 6);
            Check(Structs.Decimal(-12.5m, new Guid("00112233-4455-6677-8899-aabbccddeeff"), new DateTime(2020, 2, 29)) == -12.5m);
        }

        private static void CallMembers()
        {
            var counter = new Counter { Number = 5 };
            var numbers = new Box<int>();
            var floats = new Floats { A = 1, B = 2 };

            Check(new Derived { Number = 3 }.Add(4) == 7);
            Check(counter.Add(6) == 11);
            numbers.Swap(1, "System.Int32", Note.Of(1), Note.Of(0));
            Check(numbers.Swap(2, "System.Int32", Note.Of(2), Note.Of(1)) == 1);
            Check(Generic.Same(1.5, Note.Of(1.5)) == 1.5);
            Check(Generic.Same(Colour.Green, Note.Of((int)Colour.Green)) == Colour.Green);
            Check(Generic.Same(floats, Note.Bytes(ref floats)).B == 2);
            Generic.Same(new Derived(), Note.Type("Tracerd.Managed.Given.Derived"));
            Generic.Same<object>(null, "null");
        }
    }
}
