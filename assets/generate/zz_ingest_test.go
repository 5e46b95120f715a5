package main
import ("testing";"os";"encoding/json";"strings")
func TestIngest(t *testing.T){
 for _,m:=range strings.Fields(os.Getenv("MINORS")) {
 var ts []table
 for _,c:=range components { d,err:=os.ReadFile("/tmp/t/out/"+m+"/"+c+".json"); if err!=nil{t.Fatal(err)}; var a table; if err:=json.Unmarshal(d,&a);err!=nil{t.Fatal(err)}; ts=append(ts,a)}
 src,err:=pinned(m); if err!=nil{t.Fatal(err)}
 older,err:=olderGates(m); if err!=nil{t.Fatal(err)}
 out,err:=registry(m,src,ts,older); if err!=nil{t.Fatal(err)}
 os.WriteFile(registryFile(m),out,0o644)
 if err:=recordSum(m);err!=nil{t.Fatal(err)}
 }}
