// Compiled into sample.dll, from which test_metadata.c reads: dotnet build -c Release -p:DebugType=none -p:GenerateAssemblyInfo=false
// -p:GenerateTargetFrameworkAttribute=false of a library for netcoreapp3.1.
using System.Threading.Tasks;

namespace Space
{
    public class Empty
    {
        private Empty()
        {
        }
    }

    public class Outer<T>
    {
        public T Field;

        public async Task WaitAsync(int times)
        {
            await Task.Delay(times);
        }

        public class Inner
        {
            public U Größe<U>(U value) => value;

            public int Plain() => 1;
        }
    }
}
